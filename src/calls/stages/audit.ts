/**
 * The audit log: one JSON line for each call, in the order in which they ended.
 *
 * Lines are collected and appended asynchronously: a call never waits for the disk, and a disk that
 * fails costs lines (counted and reported), never calls. `reopen` follows a rotated file; `close`
 * writes what is left. Arguments are only written if asked for, with secrets masked.
 */
import { type FileHandle, open } from "node:fs/promises";
import type { LiveConfig } from "../../config/live-config.ts";
import { messageOf } from "../../protocol/errors.ts";
import type { Flight } from "../../protocol/flight.ts";
import type { Answer } from "../../protocol/json-rpc.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Stage } from "../compose.ts";
import { outcomeOf } from "../outcome.ts";
import { masked } from "./audit-mask.ts";

/** More than this is not kept while the disk does not take it. */
const MAX_WAITING = 16 * 1024 * 1024;

export class Audit implements Stage {
  readonly #file: AuditFile;
  readonly #config: Pick<LiveConfig, "current">;

  /** `file`: its path. `log`: told once when the file cannot be written, until it can be again. */
  constructor(file: string, config: Pick<LiveConfig, "current">, log: Pick<Logger, "error">) {
    this.#file = new AuditFile(file, (message) => log.error({ error: message }, "The audit log cannot be written"));
    this.#config = config;
  }

  leave(flight: Flight, _route: Route, answer: Answer): Answer {
    this.record(flight, answer);
    return answer;
  }

  /** Writes the line of a call that ended. */
  record({ call, startedAt, serverId }: Flight, answer: Answer): void {
    const { client } = call;
    const args = this.#config.current.log.auditArguments ? call.params["arguments"] : undefined;
    this.#file.write(
      JSON.stringify({
        time: new Date().toISOString(),
        requestId: call.requestId,
        client: { session: client.key, name: client.info["name"], principal: client.principal || undefined },
        server: serverId,
        method: call.method,
        name: call.params["name"] ?? call.params["uri"],
        durationMs: Math.round((performance.now() - startedAt) * 100) / 100,
        outcome: outcomeOf(call, answer),
        code: answer.ok ? undefined : (answer.symbol ?? answer.code),
        requestBytes: Buffer.byteLength(call.text),
        answerBytes: Buffer.byteLength(answer.raw),
        arguments: args === undefined ? undefined : masked(args),
      }),
    );
  }

  /** Follows a file that was rotated away. */
  reopen(): void {
    this.#file.reopen();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

class AuditFile {
  readonly #path: string;
  readonly #failed: (message: string) => void;
  #handle: FileHandle | undefined;
  #waiting: string[] = [];
  #size = 0;
  #lost = 0;
  #isFailing = false;
  #reopen = false;
  #writing: Promise<void> | undefined;

  constructor(path: string, failed: (message: string) => void) {
    this.#path = path;
    this.#failed = failed;
  }

  write(line: string): void {
    if (this.#size > MAX_WAITING) {
      this.#lost++;
      return;
    }
    this.#waiting.push(line);
    this.#size += line.length + 1;
    this.#writing ??= this.#run();
  }

  reopen(): void {
    this.#reopen = true;
    this.#writing ??= this.#run();
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #run(): Promise<void> {
    // The lines of one turn of the event loop go out together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0 || this.#reopen) {
      try {
        if (this.#reopen) {
          this.#reopen = false;
          await this.#handle?.close();
          this.#handle = undefined;
        }
        this.#handle ??= await open(this.#path, "a", 0o600);
        const text = this.#waiting.length === 0 ? "" : `${this.#waiting.join("\n")}\n`;
        this.#waiting = [];
        this.#size = 0;
        await this.#handle.appendFile(text);
        if (this.#lost > 0) this.#failed(`${this.#lost} audit lines were lost`);
        this.#lost = 0;
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.#failed(messageOf(error));
        this.#isFailing = true;
        this.#handle = undefined;
        break;
      }
    }
    this.#writing = undefined;
  }
}

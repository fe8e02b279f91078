/**
 * The audit log: one JSON line for each call, in the order in which they ended.
 *
 * Lines are collected and appended asynchronously: a call never waits for the disk, and a disk that
 * fails costs lines (counted and reported), never calls. `reopen` follows a rotated file; `close`
 * writes what is left. Arguments are only written if asked for, with secrets masked.
 */
import { type FileHandle, open } from "node:fs/promises";
import type { Call } from "../../protocol/call.ts";
import { messageOf } from "../../protocol/errors.ts";
import { type Answer, rawText } from "../../protocol/json-rpc.ts";
import { memberText } from "../../protocol/json-text.ts";
import type { Stage } from "../compose.ts";
import { masked } from "./audit-mask.ts";

export type AuditOutcome = "ok" | "tool_error" | "rpc_error" | "transport_error";

export interface AuditOptions {
  readonly file: string;
  readonly withArguments: () => boolean;
  /** The file cannot be written; told once until it can be again. */
  readonly failed: (message: string) => void;
}

export interface Audit {
  readonly stage: Stage;
  /** A call that no server was asked to answer. */
  refused(call: Call, answer: Answer): void;
  reopen(): void;
  close(): Promise<void>;
}

/** More than this is not kept while the disk does not take it. */
const MAX_WAITING = 16 * 1024 * 1024;

/** The gateway could not get an answer from the server, whatever the reason. */
const TRANSPORT = new Set(["BACKEND_UNAVAILABLE", "TIMEOUT", "PROMPT-004", "CANCELLED"]);

export function createAudit(options: AuditOptions): Audit {
  const file = new AuditFile(options.file, options.failed);
  const write = (call: Call, answer: Answer, ms: number): void => {
    const outcome = outcomeOf(call, answer);
    const { client } = call;
    const args = options.withArguments() ? call.params["arguments"] : undefined;
    file.write(
      JSON.stringify({
        time: new Date().toISOString(),
        requestId: call.requestId,
        client: { session: client.key, name: client.info["name"], principal: client.principal || undefined },
        server: call.serverId,
        method: call.method,
        name: call.params["name"] ?? call.params["uri"],
        durationMs: Math.round(ms * 100) / 100,
        outcome,
        code: answer.ok ? undefined : (answer.symbol ?? answer.code),
        requestBytes: Buffer.byteLength(call.text),
        answerBytes: Buffer.byteLength(answer.raw),
        arguments: args === undefined ? undefined : masked(args),
      }),
    );
  };
  return {
    stage: {
      leave(call, _route, answer) {
        write(call, answer, performance.now() - call.started);
        return answer;
      },
    },
    refused: (call, answer) => write(call, answer, 0),
    reopen: () => file.reopen(),
    close: () => file.close(),
  };
}

function outcomeOf(call: Call, answer: Answer): AuditOutcome {
  if (!answer.ok) return answer.symbol !== undefined && TRANSPORT.has(answer.symbol) ? "transport_error" : "rpc_error";
  if (call.method !== "tools/call" || !answer.raw.includes('"isError"')) return "ok";
  return memberText(rawText(answer.raw), "isError") === "true" ? "tool_error" : "ok";
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

/**
 * The audit log: one JSON line for each call, in the order in which they ended.
 *
 * A call never waits for the disk, and a disk that fails costs lines (counted and reported), never
 * calls. What a client makes up is cut: a line is short, unless arguments are asked for. Those are
 * written with secrets masked.
 */
import type { LiveConfig } from "../../../config/live-config.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import { type Answer, shownCode } from "../../../mcp/protocol/json-rpc.ts";
import { masked } from "../../../observe/telemetry/audit-mask.ts";
import type { Logger } from "../../../observe/telemetry/logger.ts";
import type { Meters } from "../../../observe/telemetry/meters.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Stage } from "../compose.ts";
import { outcomeOf } from "../outcome.ts";
import { AuditFile } from "./audit-file.ts";

/** Longest text of a client in a line, in characters. */
const MAX_TEXT = 200;

export interface AuditParts {
  readonly config: Pick<LiveConfig, "current">;
  readonly meters: Pick<Meters, "loseAuditLines">;
  readonly log: Pick<Logger, "error" | "warn">;
}

/** Returns undefined if the config names no file. */
export function createAudit(parts: AuditParts): Audit | undefined {
  const file = parts.config.current.log.audit;
  return file ? new Audit(file, parts) : undefined;
}

export class Audit implements Stage {
  readonly #file: AuditFile;
  readonly #config: Pick<LiveConfig, "current">;

  constructor(file: string, { config, meters, log }: AuditParts) {
    this.#config = config;
    this.#file = new AuditFile({
      path: file,
      rotation: () => ({ maxBytes: config.current.log.auditMaxBytes, keep: config.current.log.auditKeep }),
      onLost: (lines) => meters.loseAuditLines(lines),
      log,
    });
  }

  leave(flight: Flight, _route: Route, answer: Answer): Answer {
    this.record(flight, answer);
    return answer;
  }

  /** Writes the line of a call that ended. */
  record({ call, startedAt, serverId, rule, masked: hidden }: Flight, answer: Answer): void {
    const { client } = call;
    const args = this.#config.current.log.auditArguments ? call.params["arguments"] : undefined;
    this.#file.write(
      JSON.stringify({
        time: new Date().toISOString(),
        requestId: call.requestId,
        client: {
          session: client.key,
          name: cut(client.info["name"]),
          principal: client.principal || undefined,
          who: call.who.name || undefined,
          app: call.who.client,
          endpoint: client.endpoint || undefined,
          profile: client.visibility?.profile,
        },
        server: serverId,
        method: cut(call.method),
        name: cut(call.params["name"] ?? call.params["uri"]),
        durationMs: Math.round((performance.now() - startedAt) * 100) / 100,
        outcome: outcomeOf(call, answer),
        code: answer.ok ? undefined : shownCode(answer),
        rule,
        masked: hidden || undefined,
        requestBytes: Buffer.byteLength(call.text),
        answerBytes: Buffer.byteLength(answer.raw),
        arguments: args === undefined ? undefined : masked(args),
      }),
    );
  }

  /** Writes a line about an approval: without its arguments, and with them. */
  chained(text: string, whole: string): void {
    this.#file.write(this.#config.current.log.auditArguments ? whole : text);
  }

  /** Follows a file that was rotated away. */
  reopen(): void {
    this.#file.reopen();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Text as it is, or its beginning without half a character; what is no text is left out. */
function cut(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return value.length <= MAX_TEXT ? value : `${value.slice(0, MAX_TEXT - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

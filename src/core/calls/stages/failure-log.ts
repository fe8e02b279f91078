/**
 * Logs what servers answer as errors, and calls that they leave without an answer: server, method,
 * code, message and data, cut and on one line. A client that fails again and again cannot fill the
 * log: what is held back is counted.
 */
import { memberText } from "../../../lib/json/json-text.ts";
import { Throttle } from "../../../lib/timing/throttle.ts";
import type { ErrorCode } from "../../../mcp/protocol/errors.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import type { Answer, ErrorAnswer } from "../../../mcp/protocol/json-rpc.ts";
import { logText, MAX_PROBLEM_LENGTH } from "../../../mcp/protocol/log-text.ts";
import type { Logger } from "../../../observe/telemetry/logger.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Stage } from "../compose.ts";

/** Errors of the gateway's own that a server causes. */
const OF_SERVERS: ReadonlySet<ErrorCode> = new Set([
  "BACKEND_ERROR",
  "BACKEND_UNAVAILABLE",
  "TIMEOUT",
  "PROMPT_TIMEOUT",
]);

export class FailureLog implements Stage {
  readonly #log: Logger;
  readonly #throttle = new Throttle({ burst: 30, everyMs: 60_000 });

  constructor(log: Logger) {
    this.#log = log;
  }

  leave(flight: Flight, { serverId }: Route, answer: Answer): Answer {
    if (!answer.ok && (answer.symbol === undefined || OF_SERVERS.has(answer.symbol))) {
      this.#tell(flight, serverId, answer);
    }
    return answer;
  }

  #tell({ call, target }: Flight, server: string, { raw, code, symbol }: ErrorAnswer): void {
    const heldBack = this.#throttle.pass();
    if (heldBack === undefined) return;
    const { method, requestId } = call;
    const data = memberText(raw, "data");
    const detail = {
      server,
      method,
      ...(target !== undefined && { target: logText(target) }),
      requestId,
      code: symbol ?? code,
      ...(data !== undefined && { data: logText(data, MAX_PROBLEM_LENGTH) }),
      ...(heldBack > 0 && { heldBack }),
    };
    const message = logText(JSON.parse(memberText(raw, "message") ?? '""'), MAX_PROBLEM_LENGTH);
    // An error that the server answered is the client's business first.
    this.#log[symbol === undefined ? "info" : "warn"](detail, `${method} failed: ${message}`);
  }
}

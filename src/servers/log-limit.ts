/**
 * Limits what one server makes others read: its log messages, which reach clients, and its
 * problems, which reach the gateway's log. What is dropped is counted and reported.
 */
import { LONGEST_PROBLEM, logText } from "../protocol/log-text.ts";
import type { Logger } from "../telemetry/logger.ts";
import { Throttle } from "../timing/throttle.ts";

const PER_SECOND = 1000;

export class LogLimit {
  readonly #serverId: string;
  readonly #log: Logger;
  readonly #messages = new Throttle({ burst: PER_SECOND, everyMs: 1000 });
  readonly #reports = new Throttle({ burst: 1, everyMs: 60_000 });
  readonly #problems = new Throttle({ burst: 10, everyMs: 60_000 });

  constructor(serverId: string, log: Logger) {
    this.#serverId = serverId;
    this.#log = log;
  }

  /** Returns whether one more message may pass. */
  pass(): boolean {
    if (this.#messages.pass() !== undefined) return true;
    const before = this.#reports.pass();
    if (before === undefined) return false;
    const detail = { server: this.#serverId, dropped: before + 1 };
    this.#log.warn(detail, `The server sends more than ${PER_SECOND} log messages a second; the rest is dropped`);
    return false;
  }

  /** Logs a problem of the server, unless it has too many. */
  problem(message: string, detail?: string): void {
    const heldBack = this.#problems.pass();
    if (heldBack === undefined) return;
    const more = {
      ...(heldBack > 0 && { heldBack }),
      ...(detail !== undefined && { detail: logText(detail) }),
    };
    this.#log.warn({ server: this.#serverId, ...more }, logText(message, LONGEST_PROBLEM));
  }
}

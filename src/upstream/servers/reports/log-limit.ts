/**
 * Limits what one server makes others read: its log messages, which reach clients, and its
 * problems, which reach the gateway's log. What is dropped is counted and reported. What a program
 * prints at each start in place of messages is said once until it changes.
 */

import { BoundedSet } from "../../../lib/structures/bounded-map.ts";
import { Throttle } from "../../../lib/timing/throttle.ts";
import { logText, MAX_PROBLEM_LENGTH } from "../../../mcp/protocol/log-text.ts";
import type { Logger } from "../../../observe/telemetry/logger.ts";

const PER_SECOND = 1000;
/** How many of the quoted texts are remembered. */
const QUOTES = 20;

export class LogLimit {
  readonly #serverId: string;
  readonly #log: Logger;
  readonly #messages = new Throttle({ burst: PER_SECOND, everyMs: 1000 });
  readonly #reports = new Throttle({ burst: 1, everyMs: 60_000 });
  readonly #problems = new Throttle({ burst: 10, everyMs: 60_000 });
  /** What was quoted last, without its numbers: a time or a process id is no change. */
  readonly #quoted = new BoundedSet<string>(QUOTES);

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

  /**
   * Logs a problem of the server, unless it has too many. `detail` quotes what the server sent; the
   * same text is logged once.
   */
  problem(message: string, detail?: string): void {
    if (detail !== undefined && !this.#isNew(detail)) return;
    const heldBack = this.#problems.pass();
    if (heldBack === undefined) return;
    const more = {
      ...(heldBack > 0 && { heldBack }),
      ...(detail !== undefined && { detail: logText(detail) }),
    };
    this.#log.warn({ server: this.#serverId, ...more }, logText(message, MAX_PROBLEM_LENGTH));
  }

  #isNew(detail: string): boolean {
    const text = detail.replace(/\d+/g, "0");
    const isNew = !this.#quoted.delete(text);
    this.#quoted.add(text);
    return isNew;
  }
}

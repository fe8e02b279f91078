/**
 * What the log says about servers that are not as they were approved, each time that it changes,
 * and about problems of the lock file.
 */
import type { Logger } from "../../observe/telemetry/logger.ts";
import type { Drift } from "./drift.ts";
import { effectOf, type LockActions } from "./effect.ts";
import type { ReadLock } from "./lock-file.ts";

export interface DriftReport {
  readonly drifts: readonly Drift[];
  /** Undefined: differences are only reported. */
  readonly actions: LockActions | undefined;
  /** Whether the lock file has the server. */
  readonly isKnown: boolean;
}

/** The most drifts in one log line. */
const MAX_LOGGED = 10;

export class DriftLog {
  readonly #log: Logger;
  /** The last message about each server. */
  readonly #logged = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  report(server: string, { drifts, actions, isKnown }: DriftReport): void {
    const lines = drifts.map((drift) => lineOf(drift, actions));
    const text = lines.join("\n");
    if (this.#logged.get(server) === text || (text === "" && !this.#logged.has(server))) return;
    this.#logged.set(server, text);
    if (text === "") return this.#log.info({ server }, "The server is as it was approved again");
    if (!isKnown) {
      const effect = actions ? "What is not approved is not served" : "Nothing of it was approved yet";
      const message = `The server is not in the lock file. ${effect}: goblin lock`;
      return this.#log.warn({ server, entries: lines.length }, message);
    }
    const shown = lines.slice(0, MAX_LOGGED);
    const more = lines.length > shown.length ? { more: lines.length - shown.length } : {};
    this.#log.warn({ server, drift: shown, ...more }, "The server is not as it was approved: goblin lock diff");
  }

  problems(path: string, found: ReadLock["problems"], actions: LockActions | undefined): void {
    const what = actions ? "What it concerns is not approved, and not served" : "What it concerns is not compared";
    for (const { line, message } of found) {
      this.#log.error({ file: `${path}:${line}`, problem: message }, `The lock file has a problem. ${what}`);
    }
  }

  /** Forgets the servers that are no longer in use. */
  keepOnly(used: ReadonlySet<string>): void {
    for (const server of [...this.#logged.keys()]) if (!used.has(server)) this.#logged.delete(server);
  }
}

/** `tool send: widening, pinned` */
function lineOf(drift: Drift, actions: LockActions | undefined): string {
  const what = drift.name === "" ? drift.kind : `${drift.kind} ${drift.name}`;
  return `${what}: ${drift.change}, ${drift.class}, ${effectOf(drift, actions)}`;
}

/**
 * Lets a handshake and a list wait for servers that start for the first time, so that a client that
 * lists once sees all tools.
 *
 * Invariant: a server is waited for at most `lists.waitMs` from its own start, and never again
 * after its first attempt. A server that installs, fails or reconnects delays nobody after that.
 */
import type { Client } from "../../protocol/call.ts";
import { type Alarm, Alarms } from "../../timing/alarms.ts";

/** The most requests of one account that wait. Further ones are answered at once. */
const MOST_WAITS = 256;
/** The longest wait of clients that read a list again when it changes. */
const FOLLOWER_MS = 1000;
/** Clients that are known to do so, by the name that they give. No protocol version tells. */
const FOLLOWERS = /^(?:claude-code|Visual Studio Code)\b/;

type Asker = Pick<Client, "account" | "info">;

interface Wait extends Alarm {
  readonly account: string;
}

export class FirstLists {
  readonly #waitMs: () => number;
  /** The end of the wait for each starting server, on the clock of `performance.now()`. */
  readonly #until = new Map<string, number>();
  readonly #waits = new Set<Wait>();
  readonly #alarms = new Alarms();

  constructor(waitMs: () => number) {
    this.#waitMs = waitMs;
  }

  /** A server without known lists starts. */
  started(serverId: string): void {
    const ms = this.#waitMs();
    if (ms > 0) this.#until.set(serverId, performance.now() + ms);
  }

  /** Its first attempt has succeeded or failed, or it is no longer wanted. */
  ended(serverId: string): void {
    if (!this.#until.delete(serverId) || this.#until.size > 0) return;
    for (const wait of [...this.#waits]) wait.ring();
  }

  /** Resolves when the lists are complete or have been waited for. Undefined: no need to wait. */
  wait({ account, info }: Asker): Promise<void> | undefined {
    if (this.#until.size === 0) return undefined;
    const now = performance.now();
    for (const [id, until] of this.#until) if (until <= now) this.#until.delete(id);
    const last = Math.max(...this.#until.values(), 0);
    if (last === 0 || this.#waitsOf(account) >= MOST_WAITS) return undefined;
    const follows = typeof info["name"] === "string" && FOLLOWERS.test(info["name"]);
    return new Promise((resolve) => {
      const wait: Wait = {
        account,
        due: 0,
        place: -1,
        ring: () => {
          this.#alarms.clear(wait);
          this.#waits.delete(wait);
          resolve();
        },
      };
      this.#waits.add(wait);
      this.#alarms.set(wait, follows ? Math.min(last, now + FOLLOWER_MS) : last);
    });
  }

  #waitsOf(account: string): number {
    let count = 0;
    for (const wait of this.#waits) if (wait.account === account) count++;
    return count;
  }
}

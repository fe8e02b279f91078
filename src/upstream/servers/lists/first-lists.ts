/**
 * Lets a handshake and a list wait for servers that start for the first time, so that a client that
 * lists once sees all tools.
 *
 * Invariant: a server is waited for at most `waitMs` from its own start, and never again
 * after its first attempt. A server that installs, fails or reconnects delays nobody after that. A
 * handshake does not wait for a server that itself waits for the handshake's client.
 */

import { type Alarm, Alarms } from "../../../lib/timing/alarms.ts";
import type { Client } from "../../../mcp/protocol/call.ts";

/** The most requests of one account that wait. Further ones are answered at once. */
const MAX_WAITS = 256;
/** The longest wait of clients that read a list again when it changes. */
const FOLLOWER_MS = 1000;
/** Clients that are known to do so, by the name that they give. No protocol version tells. */
const FOLLOWERS = /^(?:claude-code|Visual Studio Code)\b/;

type Asker = Pick<Client, "account" | "info" | "visibility">;

interface Wait extends Alarm {
  readonly account: string;
  readonly isHandshake: boolean;
  /** Whether the server is one of those that it waits for. */
  readonly awaits: (serverId: string) => boolean;
}

export class FirstLists {
  readonly #waitMs: () => number;
  /** The end of the wait for each starting server, on the clock of `performance.now()`. */
  readonly #until = new Map<string, number>();
  /** Those of them that wait for a client's answer. */
  readonly #asking = new Set<string>();
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
    this.#asking.delete(serverId);
    if (this.#until.delete(serverId)) this.#release();
  }

  /** It asks its only client something, who cannot answer before the handshake. */
  asks(serverId: string): void {
    if (!this.#until.has(serverId)) return;
    this.#asking.add(serverId);
    this.#release();
  }

  /**
   * Resolves when the lists, or all that a handshake needs, are complete or have been waited for.
   * Undefined: no need to wait.
   */
  wait({ account, info, visibility }: Asker, isHandshake = false): Promise<void> | undefined {
    if (this.#until.size === 0) return undefined;
    const now = performance.now();
    for (const [id, until] of this.#until) if (until <= now) this.#until.delete(id);
    const awaits = (serverId: string): boolean => !visibility || visibility.showsServer(serverId);
    if (this.#isComplete({ isHandshake, awaits })) return undefined;
    const ends = [...this.#until].flatMap(([id, until]) => (awaits(id) ? [until] : []));
    const last = Math.max(...ends, 0);
    if (last === 0 || this.#waitsOf(account) >= MAX_WAITS) return undefined;
    const follows = typeof info["name"] === "string" && FOLLOWERS.test(info["name"]);
    return new Promise((resolve) => {
      const wait: Wait = {
        account,
        isHandshake,
        awaits,
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

  #isComplete({ isHandshake, awaits }: Pick<Wait, "isHandshake" | "awaits">): boolean {
    return [...this.#until.keys()].every((id) => !awaits(id) || (isHandshake && this.#asking.has(id)));
  }

  #release(): void {
    for (const wait of [...this.#waits]) if (this.#isComplete(wait)) wait.ring();
  }

  #waitsOf(account: string): number {
    let count = 0;
    for (const wait of this.#waits) if (wait.account === account) count++;
    return count;
  }
}

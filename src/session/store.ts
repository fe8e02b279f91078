/**
 * All sessions there are. Bounded: over the cap a new one is refused, and one that nobody uses is ended after a while.
 * A session with an open stream or a call under way is in use.
 */
import { GoblinError } from "../model/errors.ts";
import type { Session } from "./session.ts";

export interface StoreLimits {
  readonly sessions: number;
  readonly sessionIdleMs: number;
}

export class SessionStore {
  readonly #sessions = new Map<string, { readonly session: Session; readonly inUse: () => boolean }>();
  readonly #timer: NodeJS.Timeout;
  #limits: StoreLimits;

  constructor(limits: StoreLimits) {
    this.#limits = limits;
    this.#timer = setInterval(() => this.sweep(Date.now()), 10_000).unref();
  }

  get size(): number {
    return this.#sessions.size;
  }

  configure(limits: StoreLimits): void {
    this.#limits = limits;
  }

  add(session: Session, inUse: () => boolean): void {
    if (this.#sessions.size >= this.#limits.sessions) {
      const message = `Too many sessions: limits.sessions is ${this.#limits.sessions}`;
      throw new GoblinError("LimitExceeded", message, { data: { limit: this.#limits.sessions } });
    }
    this.#sessions.set(session.key, { session, inUse });
    session.onEnd(() => this.#sessions.delete(session.key));
  }

  get(id: string): Session | undefined {
    return this.#sessions.get(id)?.session;
  }

  *[Symbol.iterator](): Generator<Session> {
    for (const { session } of this.#sessions.values()) yield session;
  }

  sweep(now: number): void {
    for (const { session, inUse } of this.#sessions.values()) {
      if (session.inFlight > 0 || inUse()) session.lastUsed = now;
      else if (now - session.lastUsed > this.#limits.sessionIdleMs) session.close();
    }
  }

  close(): void {
    clearInterval(this.#timer);
    for (const session of this) session.close();
  }
}

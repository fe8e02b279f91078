/**
 * All sessions there are. Bounded: over the cap a new one is refused, and one that nobody uses is
 * ended after a while. A session with an open stream or a call under way is in use.
 */
import { limitExceeded, type OnLimit } from "../protocol/limit-exceeded.ts";
import type { Session } from "./session.ts";

export interface StoreLimits {
  readonly sessions: number;
  readonly sessionIdleMs: number;
}

/** How late an idle session may be ended; sooner where sessions may be idle for less. */
const SWEEP_MS = 10_000;
const LEAST_SWEEP_MS = 50;

export class SessionStore {
  readonly #sessions = new Map<string, { readonly session: Session; readonly isActive: () => boolean }>();
  readonly #onLimit: OnLimit;
  #timer: NodeJS.Timeout;
  #limits: StoreLimits;

  constructor(limits: StoreLimits, onLimit: OnLimit) {
    this.#limits = limits;
    this.#onLimit = onLimit;
    this.#timer = this.#startSweeping();
  }

  get size(): number {
    return this.#sessions.size;
  }

  configure(limits: StoreLimits): void {
    this.#limits = limits;
    clearInterval(this.#timer);
    this.#timer = this.#startSweeping();
  }

  add(session: Session, isActive: () => boolean): void {
    if (this.#sessions.size >= this.#limits.sessions) {
      this.#onLimit("sessions");
      throw limitExceeded({
        limit: "sessions",
        value: this.#limits.sessions,
        what: "too many sessions are open",
        advice: "end one that is not needed or try again later",
      });
    }
    this.#sessions.set(session.key, { session, isActive });
    session.onEnd(() => this.#sessions.delete(session.key));
  }

  get(id: string): Session | undefined {
    return this.#sessions.get(id)?.session;
  }

  *[Symbol.iterator](): Generator<Session> {
    for (const { session } of this.#sessions.values()) yield session;
  }

  close(): void {
    clearInterval(this.#timer);
    for (const session of this) session.close();
  }

  #startSweeping(): NodeJS.Timeout {
    const everyMs = Math.max(LEAST_SWEEP_MS, Math.min(SWEEP_MS, this.#limits.sessionIdleMs));
    return setInterval(() => this.#sweep(Date.now()), everyMs).unref();
  }

  #sweep(now: number): void {
    for (const { session, isActive } of this.#sessions.values()) {
      if (session.inFlight > 0 || isActive()) session.lastUsed = now;
      else if (now - session.lastUsed > this.#limits.sessionIdleMs) {
        this.#onLimit("sessionIdleMs");
        session.close();
      }
    }
  }
}

/**
 * All sessions there are. Bounded: over the cap a new one is refused, as is a stream of a client
 * without a session, which takes the place of one. A session that nobody uses is ended after a
 * while. A session with an open stream or a call under way is in use.
 */
import { EventEmitter } from "node:events";
import type { LiveConfig } from "../config/live-config.ts";
import { limitExceeded, type OnLimit } from "../protocol/limit-exceeded.ts";
import type { Session } from "./session.ts";

export interface SessionEvents {
  opened: [session: Session];
  /** A session of an earlier process goes on in this one. */
  resumed: [session: Session];
  ended: [session: Session];
  /** The session asked for another log level. */
  logLevel: [session: Session];
  /** The client's roots changed. */
  rootsChanged: [session: Session];
}

/** How late an idle session may be ended; sooner where sessions may be idle for less. */
const SWEEP_MS = 10_000;
const LEAST_SWEEP_MS = 50;

export class SessionStore extends EventEmitter<SessionEvents> {
  readonly #sessions = new Map<string, { readonly session: Session; readonly isActive: () => boolean }>();
  readonly #onLimit: OnLimit;
  readonly #config: LiveConfig;
  /** Places that are held for clients without a session. */
  #reserved = 0;
  #timer: NodeJS.Timeout;

  constructor(config: LiveConfig, onLimit: OnLimit) {
    super();
    this.#config = config;
    this.#onLimit = onLimit;
    this.#timer = this.#startSweeping();
    config.on("changed", () => {
      clearInterval(this.#timer);
      this.#timer = this.#startSweeping();
    });
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Takes a session in; throws when there may be no more. */
  add(session: Session, isActive: () => boolean): void {
    this.#checkRoom();
    this.#sessions.set(session.key, { session, isActive });
    this.emit("opened", session);
    session.onEnd(() => {
      this.#sessions.delete(session.key);
      this.emit("ended", session);
    });
  }

  /**
   * Holds the place of a session for a stream without one; throws when there may be no more. The
   * returned function gives it up, once.
   */
  reserve(): () => void {
    this.#checkRoom();
    this.#reserved++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#reserved--;
      isHeld = false;
    };
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

  #checkRoom(): void {
    const value = this.#config.current.limits.sessions;
    if (this.#sessions.size + this.#reserved < value) return;
    this.#onLimit("sessions");
    throw limitExceeded({
      limit: "sessions",
      value,
      what: "too many sessions are open",
      advice: "end one that is not needed or try again later",
    });
  }

  #startSweeping(): NodeJS.Timeout {
    const everyMs = Math.max(LEAST_SWEEP_MS, Math.min(SWEEP_MS, this.#config.current.limits.sessionIdleMs));
    return setInterval(() => this.#sweep(Date.now()), everyMs).unref();
  }

  #sweep(now: number): void {
    const { sessionIdleMs } = this.#config.current.limits;
    for (const { session, isActive } of this.#sessions.values()) {
      if (session.inFlight > 0 || isActive()) session.lastUsed = now;
      else if (now - session.lastUsed > sessionIdleMs) {
        this.#onLimit("sessionIdleMs");
        session.close();
      }
    }
  }
}

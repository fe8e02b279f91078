/**
 * All sessions there are. Bounded: over the cap a new one is refused, as is a stream of a client
 * without a session, which takes the place of one. No account has more than its share of them, so
 * that nobody locks others out. A session that nobody uses is ended after a while. A session with
 * an open stream or a call under way is in use.
 */
import { EventEmitter } from "node:events";
import type { LiveConfig } from "../../config/live-config.ts";
import { Shares } from "../../lib/structures/shares.ts";
import { limitExceeded, type OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import type { Session } from "./session.ts";

export interface SessionEvents {
  opened: [session: Session];
  /** The handshake is complete: the client can be notified and asked. */
  initialized: [session: Session];
  /** A session of an earlier process goes on in this one. */
  resumed: [session: Session];
  ended: [session: Session];
  /** The session asked for another log level. */
  logLevel: [session: Session];
  /** The client sent a notification that the gateway does not know; `params` is raw JSON. */
  notified: [session: Session, method: string, params: string];
  /** The client's roots changed. */
  rootsChanged: [session: Session];
}

/** How late an idle session may be ended; sooner where sessions may be idle for less. */
const SWEEP_MS = 10_000;
const MIN_SWEEP_MS = 50;

export class SessionStore extends EventEmitter<SessionEvents> {
  readonly #sessions = new Map<string, { readonly session: Session; readonly isActive: () => boolean }>();
  readonly #onLimit: OnLimit;
  readonly #config: LiveConfig;
  /** Sessions and reserved places, counted by account. */
  readonly #shares = new Shares();
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

  /**
   * Takes a session in; throws when there may be no more. `place`: what was reserved for it, which
   * it gives up when it ends.
   */
  add(session: Session, isActive: () => boolean, place = this.reserve(session.account)): void {
    this.#sessions.set(session.key, { session, isActive });
    this.emit("opened", session);
    session.onEnd(() => {
      this.#sessions.delete(session.key);
      place();
      this.emit("ended", session);
    });
  }

  /**
   * Holds the place of a session for a stream without one; throws when there may be no more. The
   * returned function gives it up, once.
   */
  reserve(account: string): () => void {
    this.#take(account);
    let isHeld = true;
    return () => {
      if (isHeld) this.#shares.giveBack(account);
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

  #take(account: string): void {
    const value = this.#config.current.limits.sessions;
    if (this.#shares.take(account, value)) return;
    const isFull = this.#shares.total >= value;
    this.#onLimit("sessions");
    throw limitExceeded({
      limit: "sessions",
      value,
      what: isFull
        ? "too many sessions are open"
        : `this token or address has its share of all sessions open, ${this.#shares.of(account)}`,
      advice: "end one that is not needed or try again later",
    });
  }

  #startSweeping(): NodeJS.Timeout {
    const everyMs = Math.max(MIN_SWEEP_MS, Math.min(SWEEP_MS, this.#config.current.limits.sessionIdleMs));
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

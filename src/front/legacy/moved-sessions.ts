/**
 * Sessions of this process that other replicas have now.
 *
 * What was under way here is answered here, as nobody else can: such a session rests until its last
 * answer is sent. It hears of nothing else any more. Invariant: a session that rests is ended
 * before it may come back.
 */

import type { Session } from "../../core/session/session.ts";
import { BoundedSet } from "../../lib/structures/bounded-map.ts";

/** The most that are remembered. */
const MAX_SESSIONS = 10_000;
const LOOK_MS = 20;

export class MovedSessions {
  readonly #ids = new BoundedSet<string>(MAX_SESSIONS);
  readonly #resting = new Map<string, Session>();
  readonly #isIdle: (id: string, session: Session) => boolean;
  #timer: NodeJS.Timeout | undefined;

  /** `isIdle`: whether all answers of a session are sent. */
  constructor(isIdle: (id: string, session: Session) => boolean) {
    this.#isIdle = isIdle;
  }

  add(id: string, session: Session): void {
    this.#ids.add(id);
    if (this.#isIdle(id, session)) return session.close();
    session.retire();
    this.#resting.set(id, session);
    session.onEnd(() => this.#resting.delete(id));
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Those that still have something to answer. */
  get resting(): Iterable<Session> {
    return this.#resting.values();
  }

  /** A session may come back now. */
  end(id: string): void {
    this.#resting.get(id)?.close();
  }

  /** A session has come back. */
  forget(id: string): void {
    this.#ids.delete(id);
  }

  close(): void {
    for (const session of [...this.#resting.values()]) session.close();
    this.#look();
  }

  #look(): void {
    for (const [id, session] of this.#resting) if (this.#isIdle(id, session)) session.close();
    if (this.#resting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

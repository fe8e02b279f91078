/**
 * The one client of a gateway that serves a single channel. What a server asks outside of a call is
 * meant for it: there is nobody else.
 *
 * Servers start before the client has introduced itself, so a question waits for that, within
 * bounds. A client without a session cannot be asked outside of a call.
 */
import type { Answer } from "../protocol/json-rpc.ts";
import type { Session } from "../session/session.ts";
import type { SessionStore } from "../session/store.ts";

const INTRODUCTION_MS = 10_000;

export class SoleClient {
  readonly #sessions: SessionStore;
  readonly #introduced: Promise<void>;
  #introduce = (): void => {};

  constructor(sessions: SessionStore) {
    this.#sessions = sessions;
    this.#introduced = new Promise((resolve) => {
      this.#introduce = resolve;
    });
    sessions.on("initialized", () => this.#introduce());
    setTimeout(() => this.#introduce(), INTRODUCTION_MS).unref();
  }

  /** The client has no session: nothing is to be waited for. */
  hasNoSession(): void {
    this.#introduce();
  }

  /** Returns undefined if the client cannot be asked. */
  async ask(method: string, params: string, signal: AbortSignal): Promise<Answer | undefined> {
    await this.#introduced;
    const session = this.#session;
    return session && (await session.ask(method, params, { call: undefined, signal }));
  }

  get #session(): Session | undefined {
    const [only, ...others] = this.#sessions;
    return others.length === 0 && only?.initialized ? only : undefined;
  }
}

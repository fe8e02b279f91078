/**
 * The one client of a gateway that serves a single channel. What a server asks outside of a call is
 * meant for it, and servers are told its name and capabilities: there is nobody else.
 *
 * Servers start before the client has introduced itself, so both wait for that, within bounds. A
 * client without a session cannot be asked outside of a call, and says with each request who it is.
 */

import type { Session } from "../core/session/session.ts";
import type { SessionStore } from "../core/session/store.ts";
import type { Answer } from "../mcp/protocol/json-rpc.ts";

const INTRODUCTION_MS = 10_000;
/** Clients say who they are as soon as they have started the gateway. */
const OPENING_MS = 2000;

export class SoleClient {
  lacksSession = false;
  readonly #sessions: SessionStore;
  readonly #introduced: Promise<void>;
  readonly #opened: Promise<void>;
  #introduce = (): void => {};
  #open = (): void => {};

  constructor(sessions: SessionStore) {
    this.#sessions = sessions;
    this.#introduced = new Promise((resolve) => {
      this.#introduce = resolve;
    });
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    sessions.on("opened", () => this.#open());
    sessions.on("initialized", () => this.#introduce());
    setTimeout(() => this.#open(), OPENING_MS).unref();
    setTimeout(() => this.#introduce(), INTRODUCTION_MS).unref();
  }

  /** The client has no session: nothing is to be waited for. */
  hasNoSession(): void {
    this.lacksSession = true;
    this.#open();
    this.#introduce();
  }

  /** Returns what the client said of itself; undefined if it has no session. */
  async introduction(): Promise<Session | undefined> {
    await this.#opened;
    return this.#session;
  }

  /** Returns undefined if the client cannot be asked. */
  async ask(method: string, params: string, signal: AbortSignal): Promise<Answer | undefined> {
    await this.#introduced;
    const session = this.#session;
    return session?.initialized ? session.ask(method, params, { call: undefined, signal }) : undefined;
  }

  get #session(): Session | undefined {
    const [only, ...others] = this.#sessions;
    return others.length === 0 ? only : undefined;
  }
}

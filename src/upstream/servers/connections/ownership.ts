/**
 * Decides which clients have a connection of their own to a server.
 *
 * With `share: "auto"` all clients share one, until the server shows that it must tell them apart:
 * it asks something outside of a call, which only one client can answer. From then on, clients that
 * can be asked that have their own. A session that has used the shared connection stays there: the
 * server may keep something for it.
 *
 * Invariant: a client that cannot be asked anything always shares, so that what it sees and calls
 * never depends on which clients came before.
 */
import type { ServerConfig } from "../../../config/schema/server.ts";
import type { Client } from "../../../mcp/protocol/call.ts";
import { canBeAsked, isQuestion } from "../../../mcp/protocol/methods.ts";

const ROOTS = "roots/list";

export class Ownership {
  /** Whether any client may have its own connection. While false, nobody needs to be looked at. */
  isPossible: boolean;
  readonly #share: ServerConfig["share"];
  /** What the server asked outside of a call. */
  readonly #asked = new Set<string>();
  /** Sessions that have used the shared connection. */
  readonly #sharers = new WeakSet<Client>();
  #lastSharer: Client | undefined;

  constructor(share: ServerConfig["share"]) {
    this.#share = share;
    this.isPossible = share === "session";
  }

  /** The server asked something, and no client's call was meant for certain. */
  asked(method: string): void {
    // No client can be asked anything else, and a server can make up any number of methods.
    if (!isQuestion(method)) return;
    if (this.#share !== "all") this.#asked.add(method);
    if (this.#share === "auto") this.isPossible = true;
  }

  /** Whether a session that comes needs its connection before it uses the server. */
  get isKnownNeed(): boolean {
    return this.#asked.size > 0;
  }

  /** The client is about to use the shared connection. */
  shares(client: Client): void {
    // A client without a session is another one with each request: nothing is to be remembered.
    if (this.#share !== "auto" || !client.hasSession || client === this.#lastSharer) return;
    this.#lastSharer = client;
    this.#sharers.add(client);
  }

  includes(client: Client): boolean {
    if (this.#share !== "auto") return this.#share === "session";
    if (!this.isPossible || this.#sharers.has(client)) return false;
    return this.expected(client).length > 0;
  }

  /** Whether a client that cannot get a connection of its own may share one. */
  get mayShare(): boolean {
    return this.#share === "auto";
  }

  /**
   * Returns what the server will probably ask this client as soon as it is connected. A client
   * without a session is asked in its call, and only for what servers ask at their start.
   */
  expected({ capabilities, hasSession }: Client): string[] {
    return [...this.#asked].filter((method) => (hasSession || method === ROOTS) && canBeAsked(capabilities, method));
  }
}

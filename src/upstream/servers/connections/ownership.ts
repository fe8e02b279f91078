/**
 * Decides which clients have a connection of their own to a server.
 *
 * With `share: "auto"` all clients share one, until the server shows that it must tell them apart.
 * It may ask something outside of a call, which only one client can answer, or list other things
 * for a client's own connection. From then on, new sessions have their own, if they can be asked
 * that. A session that has used the shared connection stays there: the server may keep something
 * for it.
 */
import type { ServerConfig } from "../../../config/schema/server.ts";
import type { Client } from "../../../mcp/protocol/call.ts";
import { canBeAsked, isQuestion } from "../../../mcp/protocol/methods.ts";

export class Ownership {
  /** Whether any client may have its own connection. While false, nobody needs to be looked at. */
  isPossible: boolean;
  readonly #share: ServerConfig["share"];
  /** What the server asked outside of a call. */
  readonly #asked = new Set<string>();
  #listsApart = false;
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

  /** A client's own connection has other lists than the shared one. */
  listsApart(): void {
    this.#listsApart = true;
  }

  /** Whether a session that comes needs its connection before it uses the server. */
  get isKnownNeed(): boolean {
    return this.#asked.size > 0 || this.#listsApart;
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
    if (!this.isPossible || !client.hasSession || this.#sharers.has(client)) return false;
    return this.#listsApart || this.expected(client).length > 0;
  }

  /** Whether a client that cannot get a connection of its own may share one. */
  get mayShare(): boolean {
    return this.#share === "auto";
  }

  /** Returns what the server will probably ask this client as soon as it is connected. */
  expected({ capabilities }: Client): string[] {
    return [...this.#asked].filter((method) => canBeAsked(capabilities, method));
  }
}

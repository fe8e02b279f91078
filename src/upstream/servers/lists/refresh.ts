/**
 * Decides when a server's lists are fetched again although the server announced no change.
 *
 * There are three reasons. Time (`refreshMs`), for servers that do not announce changes. A
 * client that reads a list whose time to live is over, for servers without a standing connection. A
 * call that the server refuses because it does not know the tool.
 *
 * Invariant: the lists are never fetched more often than every few seconds for these reasons, and
 * never after `close`.
 */

import { isRecord } from "../../../lib/structures/record.ts";
import type { Peer } from "../../../mcp/peers/peer.ts";
import { type ServerLists, timeToLive } from "../../catalog/definitions.ts";

/** The least time between two fetches. Also the time to live of lists that name none, or zero. */
const MIN_MS = 5000;

export interface RefreshOptions {
  readonly peer: Peer;
  readonly refreshMs: number;
  readonly fetch: () => void;
}

export class Refresh {
  readonly #fetch: () => void;
  readonly #hasStream: boolean;
  readonly #timer: NodeJS.Timeout | undefined;
  #fetchedAt = performance.now();

  constructor({ peer, refreshMs, fetch }: RefreshOptions) {
    this.#fetch = fetch;
    this.#hasStream = !peer.keepsNothing;
    if (refreshMs > 0 && !announcesAll(peer)) this.#timer = setInterval(() => this.#again(), refreshMs).unref();
  }

  /** The lists were fetched, for whatever reason. */
  fetched(): void {
    this.#fetchedAt = performance.now();
  }

  /** A client read these lists. */
  read(lists: ServerLists): void {
    if (this.#hasStream || performance.now() - this.#fetchedAt < MIN_MS) return;
    if (performance.now() - this.#fetchedAt >= timeToLive(lists)) this.#again();
  }

  /** The server does not know a tool that its list names. */
  contradicted(): void {
    if (performance.now() - this.#fetchedAt >= MIN_MS) this.#again();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #again(): void {
    this.#fetchedAt = performance.now();
    this.#fetch();
  }
}

/** Whether the server announces changes of all lists that it has. */
function announcesAll({ info: { capabilities } }: Peer): boolean {
  return ["tools", "prompts", "resources"].every((kind) => {
    const declared = capabilities[kind];
    return declared === undefined || (isRecord(declared) && declared["listChanged"] === true);
  });
}

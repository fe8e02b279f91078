/**
 * What one server lists on the connections that belong to single clients. Each connection is
 * followed like the shared one: fetched after a connect, and again when the server announces a
 * change.
 */

import type { Peer } from "../../../mcp/peers/peer.ts";
import type { ChangeKind } from "../../../mcp/protocol/methods.ts";
import type { ServerLists } from "../../catalog/definitions.ts";
import { ListFetcher, type ListFetcherOptions } from "../list-fetcher.ts";

export interface OwnListsOptions extends Pick<ListFetcherOptions, "serverId" | "config" | "log" | "onLimit" | "admit"> {
  /** Returns the lists of the shared connection, if they are known. */
  readonly common: () => ServerLists | undefined;
  /** A client's lists are these now; undefined: the common ones. */
  readonly update: (ownerKey: string, lists: ServerLists | undefined) => void;
  /** The server announced a change of a client's lists, and they are the same as before. */
  readonly announced: (ownerKey: string, kinds: readonly ChangeKind[]) => void;
}

export class OwnLists {
  readonly #options: OwnListsOptions;
  readonly #fetchers = new Map<string, ListFetcher>();
  readonly #lists = new Map<string, ServerLists>();

  constructor(options: OwnListsOptions) {
    this.#options = options;
  }

  /** Returns what follows the lists of a client's own connection. */
  of(ownerKey: string): ListFetcher | undefined {
    return this.#fetchers.get(ownerKey);
  }

  /** The client read a list. */
  read(ownerKey: string): void {
    const lists = this.#lists.get(ownerKey);
    if (lists) this.#fetchers.get(ownerKey)?.read(lists);
  }

  /** Fetches all lists over a new connection of this client. */
  async connect(ownerKey: string, peer: Peer): Promise<void> {
    this.#fetchers.get(ownerKey)?.close();
    const fetcher = this.#make(ownerKey);
    this.#fetchers.set(ownerKey, fetcher);
    const known = this.#options.common();
    // These are the client's own from now on, even if they are the same: the common may change.
    this.#options.update(ownerKey, known);
    await fetcher.connect(peer, known);
  }

  /** Other things are admitted now than before. */
  readmit(): void {
    for (const fetcher of this.#fetchers.values()) fetcher.readmit();
  }

  /** Forgets a client that is gone. */
  release(ownerKey: string): void {
    this.#fetchers.get(ownerKey)?.close();
    this.#fetchers.delete(ownerKey);
    this.#lists.delete(ownerKey);
  }

  /** Gives all clients the common lists again. */
  close(): void {
    for (const [ownerKey, fetcher] of this.#fetchers) {
      fetcher.close();
      this.#options.update(ownerKey, undefined);
    }
    this.#fetchers.clear();
    this.#lists.clear();
  }

  #make(ownerKey: string): ListFetcher {
    const { serverId, config, log, onLimit, admit, update, announced } = this.#options;
    return new ListFetcher({
      serverId,
      config,
      log,
      onLimit,
      admit,
      update: (lists) => {
        this.#lists.set(ownerKey, lists);
        update(ownerKey, lists);
      },
      announced: (kinds) => announced(ownerKey, kinds),
      synced: () => {},
      problemChanged: () => {},
      recovered: () => {},
    });
  }
}

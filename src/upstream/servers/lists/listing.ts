/**
 * One server's lists as clients see them: its entries in the catalog, and whether they are known.
 *
 * Until a new server's lists are known, it shows those that an earlier process kept. A server that
 * is down keeps its entries for a grace period; then they are withdrawn until it is back. The
 * catalog always knows whether a server's lists are known, so that requests for its names can wait.
 * Nothing changes in the catalog while the server is not attached.
 */

import type { LiveConfig } from "../../../config/live-config.ts";
import { isInvalid, type ServerConfig } from "../../../config/schema/server.ts";
import type { PeerInfo } from "../../../mcp/peers/peer.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { emptyLists, type ServerLists } from "../../catalog/definitions.ts";
import { DISABLED, KNOWN, STARTING, type Standing } from "../../catalog/standing.ts";
import type { Lock } from "../../lock/lock.ts";
import type { BackendStatus } from "../backend.ts";
import type { KeptLists, KeptServer } from "./kept-lists.ts";

export interface ListingOptions {
  readonly config: LiveConfig;
  readonly catalog: Pick<Catalog, "put" | "update" | "stand">;
  /** Where the lists outlive the process. */
  readonly kept?: Pick<KeptLists, "read" | "keep"> | undefined;
  /** Decides what may be shown of a server that has not connected yet. */
  readonly lock?: Pick<Lock, "startingLists"> | undefined;
  readonly server: () => ServerConfig;
  readonly status: () => BackendStatus;
  /** Returns whether some list could not be fetched at all. */
  readonly hasFailed: () => boolean;
}

/** The server's own words stay in its status: clients see this. */
const UNLISTED: Standing = { kind: "down", reason: "its lists could not be fetched yet" };

export class Listing {
  readonly #options: ListingOptions;
  #isAttached = false;
  /** Undefined until the first sync, unless kept, and after a withdrawal. */
  #lists: ServerLists | undefined;
  /** The server's last description of itself, as long as it has lists. */
  #info: PeerInfo | undefined;
  #isKnown = false;
  readonly #kept: KeptServer | undefined;
  #graceTimer: NodeJS.Timeout | undefined;

  constructor(options: ListingOptions) {
    this.#options = options;
    const server = options.server();
    this.#kept = server.enabled ? options.kept?.read(server) : undefined;
    this.#lists = this.#startingLists();
    this.#info = this.#kept?.info;
  }

  get lists(): ServerLists | undefined {
    return this.#lists;
  }

  get info(): PeerInfo | undefined {
    return this.#info;
  }

  /** Whether all lists have been fetched, and clients see them. */
  get isShown(): boolean {
    return this.#isAttached && this.#isKnown;
  }

  /** From now on, clients see this listing under the server's id. */
  attach(): void {
    this.#isAttached = true;
    this.show();
    this.stand();
    const { catalog, server, status } = this.#options;
    const { id, enabled } = server();
    if (!enabled || isInvalid(server())) return catalog.update(id, emptyLists);
    if (this.#lists) catalog.update(id, this.#lists);
    // The catalog still lists kept entries, or the predecessor's. They stay for the same grace
    // period as those of a server that is down.
    if (!this.#isKnown) this.grace(status());
  }

  detach(): void {
    this.#isAttached = false;
    clearTimeout(this.#graceTimer);
  }

  /** Shows the server's settings: prefix, names and exposure. */
  show(): void {
    if (!this.#isAttached) return;
    const { id, prefix, tools, expose } = this.#options.server();
    this.#options.catalog.put({ id, prefix, tools, expose });
  }

  update(lists: ServerLists): void {
    this.#lists = lists;
    if (this.#isAttached) this.#options.catalog.update(this.#options.server().id, lists);
    if (this.#isKnown) this.#keep();
  }

  /** Other things may be shown now than before. Lists that were fetched come from the fetcher. */
  readmit(): void {
    if (this.#isKnown || !this.#lists) return;
    this.#lists = this.#startingLists();
    if (this.#isAttached) this.#options.catalog.update(this.#options.server().id, this.#lists ?? emptyLists);
  }

  /** The lists of a new connection were fetched, as far as they could be. */
  fetched(info: PeerInfo, problem: string | undefined): void {
    this.#lists ??= emptyLists;
    this.#info = info;
    if (this.#options.hasFailed()) this.stand();
    else this.known();
    if (problem === undefined) this.#keep();
  }

  /** Every list was fetched. */
  known(): void {
    this.#isKnown = true;
    this.stand();
  }

  /** Tells the catalog how far the lists can be relied on. */
  stand(): void {
    if (!this.#isAttached) return;
    const { catalog, server } = this.#options;
    catalog.stand(server().id, this.#standing());
  }

  /** The server goes, so nothing more is to be expected of it. */
  stopped(reason: string): void {
    if (this.#isAttached) this.#options.catalog.stand(this.#options.server().id, { kind: "down", reason });
  }

  /** The lists of a server that waits for a login stay: the user may come back at any time. */
  grace({ state }: BackendStatus): void {
    if (!this.#isAttached) return;
    if (state === "needs-login" && this.#lists) return this.endGrace();
    if (state !== "down" && state !== "needs-login") return;
    const { graceMs } = this.#options.config.current.backends;
    this.#graceTimer ??= setTimeout(() => this.#withdraw(), graceMs).unref();
  }

  endGrace(): void {
    clearTimeout(this.#graceTimer);
    this.#graceTimer = undefined;
  }

  #standing(): Standing {
    const { server, status, hasFailed } = this.#options;
    const { state, reason, retryAfterMs } = status();
    if (state === "invalid") return { kind: "invalid", reason: reason ?? state };
    if (!server().enabled) return DISABLED;
    if (this.#isKnown) return KNOWN;
    if (state === "needs-login") return { kind: state, reason: reason ?? "It needs a login" };
    if (state !== "down") return hasFailed() ? UNLISTED : STARTING;
    const retryAt = retryAfterMs === undefined ? undefined : Date.now() + retryAfterMs;
    return { kind: "down", reason: reason ?? "it is not connected", retryAt };
  }

  #startingLists(): ServerLists | undefined {
    const { lock, server } = this.#options;
    const { id, enabled } = server();
    const kept = this.#kept?.lists;
    return lock && enabled ? lock.startingLists(id, kept) : kept;
  }

  #keep(): void {
    const { kept, server, status } = this.#options;
    const info = status().info ?? this.#info;
    if (kept && info) kept.keep(server(), { lists: this.#lists ?? emptyLists, info });
  }

  #withdraw(): void {
    this.#lists = undefined;
    this.#info = undefined;
    this.#isKnown = false;
    if (this.#isAttached) this.#options.catalog.update(this.#options.server().id, emptyLists);
    this.stand();
  }
}

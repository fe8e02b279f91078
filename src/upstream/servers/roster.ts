/**
 * The servers of the config, by id, and how a new config changes them.
 *
 * Servers start in parallel and none waits for another. A new config touches only what it changes.
 * A server that needs another connection is started beside the old one and takes its place when it
 * has been synced (or has failed). The old one finishes its calls. `close` stops every server that
 * was started here.
 */

import type { Logins } from "../../auth/login/logins.ts";
import type { ConfigDiff } from "../../config/diff.ts";
import { isInvalid, type ServerConfig } from "../../config/schema/server.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { STARTING } from "../catalog/standing.ts";
import { Callers } from "./callers/callers.ts";
import type { SoleClient, Subscribers } from "./events.ts";
import { FirstLists } from "./lists/first-lists.ts";
import { Server, type ServerHost, type ServerOptions } from "./server.ts";
import { type Upgrade, Upgrades } from "./upgrades.ts";

/** What all servers are made from. */
export interface RosterOptions extends ServerOptions {
  readonly catalog: Catalog;
  readonly logins?: Logins | undefined;
}

/** The same, before the secrets of the config can be looked up. */
export interface ServersOptions extends Omit<RosterOptions, "secrets"> {
  /** The environment of the state folder and of programs that supply secrets. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** A function, because subscriptions and servers need each other. */
  readonly subscribers: () => Subscribers;
  /** A function, because it changes when the gateway opens another way in. */
  readonly sole: () => SoleClient | undefined;
}

export class Roster {
  readonly #host: ServerHost;
  readonly #options: RosterOptions;
  #entries = new Map<string, Server>();
  /** Servers that are about to replace the one with the same id. */
  readonly #incoming = new Map<string, Server>();
  /** Replaced or removed servers that finish their last calls. */
  readonly #retiring = new Set<Server>();
  readonly firstLists: FirstLists;
  readonly #upgrades: Upgrades | undefined;
  #judging: Promise<unknown> = Promise.resolve();
  #started: Promise<void> | undefined;
  #settled = false;
  #closed = false;
  #applied: Promise<void> = Promise.resolve();

  constructor(host: ServerHost, options: RosterOptions) {
    this.#host = host;
    this.#options = options;
    this.firstLists = new FirstLists(() => options.config.current.lists.waitMs);
    for (const config of options.config.current.servers) this.#add(config);
    const { lock } = options;
    if (!lock) return;
    const changed = (id: string): void => {
      const status = this.#entries.get(id)?.status;
      if (status) host.emit("status", id, status);
    };
    this.#upgrades = new Upgrades({ lock, log: options.log, changed });
    lock.on("changed", () => {
      for (const server of this.serving()) {
        const next = this.#incoming.get(server.id);
        // What was approved may be the new version: then the old one has nothing to say any more.
        if (next?.standby) void this.#judge(next).then(() => this.#entries.get(server.id)?.readmit());
        else void server.readmit();
      }
    });
  }

  /** What is known of a version that has not taken over. */
  upgrade(id: string): Upgrade | undefined {
    return this.#upgrades?.get(id);
  }

  /**
   * Lets the version that waits take over, whatever it offers. `expect`: the digest of its offer.
   * Returns whether there is such a version.
   */
  async switchTo(id: string, expect: string): Promise<boolean> {
    const next = this.#incoming.get(id);
    if (!next?.standby || this.upgrade(id)?.offer?.digest !== expect) return false;
    await next.readmit();
    // It may have changed meanwhile, or be gone.
    if (this.#incoming.get(id) !== next || this.upgrade(id)?.offer?.digest !== expect) return false;
    await this.#takeOver(next);
    return true;
  }

  /**
   * While the lock is enforced, what a package runner runs may be another version: it runs aside
   * first.
   */
  async restart(id: string): Promise<void> {
    const server = this.#entries.get(id);
    if (server && this.#upgrades?.concerns(server, server.config)) return this.#replace(server.config);
    await server?.backend.restart();
  }

  /** Whether every enabled server has connected or failed once. */
  get settled(): boolean {
    return this.#settled;
  }

  get(id: string): Server | undefined {
    return this.#entries.get(id);
  }

  /** In the order of the config. */
  values(): Iterable<Server> {
    return this.#entries.values();
  }

  /** Those that clients may still have calls at. */
  *serving(): Generator<Server> {
    yield* this.#entries.values();
    yield* this.#retiring;
  }

  /** Resolves when every enabled server has connected or failed once. */
  start(): Promise<void> {
    this.#started ??= Promise.all([...this.#entries.values()].map((server) => this.#startNew(server))).then(() => {
      this.#settled = true;
    });
    return this.#started;
  }

  /**
   * Follows the config from now on. Must be the last listener: a server starts when all other parts
   * have the new config.
   */
  follow(): void {
    this.#options.config.on("changed", (diff) => {
      this.#applied = this.#apply(diff);
    });
  }

  /**
   * Resolves when the current config is applied: servers that need a new connection have taken
   * over, and new servers have connected or failed.
   */
  get applied(): Promise<void> {
    return this.#applied;
  }

  /** The lists change at once, except for servers that need a new connection. */
  #apply(diff: ConfigDiff): Promise<void> {
    for (const id of diff.removed) this.#remove(id);
    for (const config of diff.adjusted) {
      this.#entries.get(config.id)?.adjust(config);
      this.#incoming.get(config.id)?.adjust(config);
    }
    const starts = [
      ...diff.added.map((config) => this.#startAdded(this.#add(config), (server) => this.#startNew(server))),
      ...diff.changed.map((config) => this.#replace(config)),
    ];
    this.#arrange(diff.order);
    for (const server of this.#all()) server.configure(this.#options.config.current);
    return Promise.all(starts).then(() => this.#options.catalog.caughtUp());
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { id } of this.#entries.values()) this.firstLists.ended(id);
    await Promise.all([...this.#all()].map((server) => server.stop("shutting down")));
  }

  *#all(): Generator<Server> {
    yield* this.#entries.values();
    yield* this.#incoming.values();
    yield* this.#retiring;
  }

  #make(config: ServerConfig): Server {
    const server = new Server(config, this.#host, this.#options);
    const { logins } = this.#options;
    if (!logins || config.auth?.as !== "caller" || !config.enabled || isInvalid(config)) return server;
    const parts = { config, host: this.#host, options: this.#options };
    server.callers = new Callers({ ...parts, make: (...args) => new Server(...args) }, logins);
    return server;
  }

  #add(config: ServerConfig): Server {
    const server = this.#make(config);
    this.#entries.set(config.id, server);
    server.attach();
    return server;
  }

  async #startAdded(server: Server, start: (server: Server) => Promise<void>): Promise<void> {
    if (this.#started && !this.#closed) await start(server);
  }

  /** Starts a server that nobody has seen yet. Lists wait for it. */
  async #startNew(server: Server): Promise<void> {
    if (!server.config.enabled) return;
    if (!server.hasLists) this.firstLists.started(server.id);
    await server.start();
    this.firstLists.ended(server.id);
  }

  async #replace(config: ServerConfig): Promise<void> {
    const { id } = config;
    void this.#incoming.get(id)?.stop("replaced");
    const next = this.#make(config);
    this.#incoming.set(id, next);
    this.#upgrades?.over(id);
    if (this.#upgrades?.concerns(this.#entries.get(id), config)) next.standby = () => void this.#judge(next);
    // From now on, requests for its names wait until it has started.
    if (config.enabled && !isInvalid(config) && !this.#entries.get(id)?.config.enabled)
      this.#options.catalog.stand(id, STARTING);
    await this.#startAdded(next, (server) => server.start());
    if (this.#entries.get(id) === next) return;
    // Another config may have replaced this server meanwhile, or the gateway may be closing.
    if (this.#incoming.get(id) !== next || this.#closed) return next.stop("replaced");
    if (next.standby) await this.#judge(next);
    else await this.#takeOver(next);
  }

  /** Lets a version that runs aside take over, if nothing in it is held. One after the other. */
  #judge(next: Server): Promise<void> {
    const isWaiting = (): boolean =>
      this.#incoming.get(next.id) === next && next.standby !== undefined && !this.#closed;
    const { log } = this.#options;
    const judged = this.#judging.then(async () => {
      const old = this.#entries.get(next.id);
      if (!old || !isWaiting() || !(await this.#upgrades?.mayTakeOver(old, next))) return;
      // Clients see at once all that was approved of it.
      await next.readmit();
      if (isWaiting()) await this.#takeOver(next);
    });
    const settled = judged.catch((error: unknown) =>
      log.error({ server: next.id, reason: messageOf(error) }, "A new version of the server cannot be judged"),
    );
    this.#judging = settled;
    return settled;
  }

  async #takeOver(next: Server): Promise<void> {
    const { id, config } = next;
    const { drainMs, maxCallMs } = this.#options.config.current.timeouts;
    // Nobody is in a hurry with an upgrade: every call may finish where it began.
    const patienceMs = next.standby ? Math.max(drainMs, maxCallMs) : drainMs;
    this.#incoming.delete(id);
    const old = this.#entries.get(id);
    this.#entries.set(id, next);
    old?.detach();
    if (next.standby) this.#options.lock?.replaced(id);
    next.attach();
    this.#upgrades?.over(id);
    this.#host.emit("status", id, next.backend.status);
    if (!config.enabled || isInvalid(config)) this.#host.emit("removed", id);
    if (old) this.#retire(old, patienceMs);
    await this.#host.subscribers.restored(id);
  }

  #remove(id: string): void {
    const { catalog } = this.#options;
    void this.#incoming.get(id)?.stop("removed");
    this.#incoming.delete(id);
    this.#upgrades?.over(id);
    const server = this.#entries.get(id);
    this.#entries.delete(id);
    this.firstLists.ended(id);
    catalog.remove(id);
    this.#host.emit("removed", id);
    if (server) this.#retire(server, this.#options.config.current.timeouts.drainMs);
  }

  #retire(server: Server, patienceMs: number): void {
    this.#retiring.add(server);
    void server.retire(patienceMs).finally(() => this.#retiring.delete(server));
  }

  /**
   * File order decides which server keeps a contested name, so the order must be the same as after
   * a restart.
   */
  #arrange(order: readonly string[]): void {
    const entries = new Map<string, Server>();
    for (const id of order) {
      const server = this.#entries.get(id);
      if (server) entries.set(id, server);
    }
    this.#entries = entries;
    this.#options.catalog.arrange(order);
  }
}

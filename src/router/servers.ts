/**
 * The set of servers: each one supervised, its lists kept in the catalog, its messages sent to whoever they are for.
 *
 * Servers start in parallel and none waits for another. A server that is down keeps its entries for a grace period, then they are
 * withdrawn until it is back.
 */
import type { Origin, Peer, PeerEvents } from "../backend/backend.ts";
import { connectPeer } from "../backend/eras/negotiate.ts";
import { Backend, type BackendStatus } from "../backend/supervise.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { emptyLists } from "../catalog/definitions.ts";
import { Sync } from "../catalog/sync.ts";
import type { Config } from "../config/schema.ts";
import type { ServerConfig } from "../config/server.ts";
import type { Call, Client } from "../model/call.ts";
import { GoblinError, messageOf } from "../model/errors.ts";
import { type Answer, failure } from "../model/json-rpc.ts";
import { within } from "../model/within.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { DescribeSource } from "./describe.ts";

export interface ServerHooks {
  /** A log message of a server; `params` is raw JSON. */
  log(level: string, params: string, to: Origin | Client): void;
  updated(serverId: string, uri: string, params: string, ownerKey: string | undefined): void;
  /** The server was connected again after it had been before. */
  restored(serverId: string): Promise<void>;
  removed(serverId: string): void;
  /** The log level that the clients want of the servers, if any said so. */
  wantedLevel(): string | undefined;
  status(serverId: string, status: BackendStatus): void;
}

export interface ServersOptions {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly hooks: ServerHooks;
  readonly log: Logger;
  readonly clientInfo: Readonly<Record<string, unknown>>;
}

interface Entry {
  readonly config: ServerConfig;
  readonly backend: Backend;
  readonly log: Logger;
  sync: Sync | undefined;
  graceTimer: NodeJS.Timeout | undefined;
  settled: boolean;
}

export class Servers {
  readonly #options: ServersOptions;
  readonly #entries = new Map<string, Entry>();
  #started: Promise<void> | undefined;

  constructor(options: ServersOptions) {
    this.#options = options;
    for (const server of options.config.servers) this.#add(server);
  }

  /** Ends when every enabled server has connected or failed once. */
  start(): Promise<void> {
    this.#started ??= Promise.all([...this.#entries.values()].map((entry) => this.#startOne(entry))).then(() => {});
    return this.#started;
  }

  get settled(): boolean {
    for (const { config, settled } of this.#entries.values()) if (config.enabled && !settled) return false;
    return true;
  }

  ids(): string[] {
    return [...this.#entries.keys()];
  }

  config(serverId: string): ServerConfig | undefined {
    return this.#entries.get(serverId)?.config;
  }

  status(serverId: string): BackendStatus | undefined {
    return this.#entries.get(serverId)?.backend.status;
  }

  /** A capability that the connected server declared. */
  capability(serverId: string, name: string): unknown {
    return this.#entries.get(serverId)?.backend.peer?.info.capabilities[name];
  }

  backend(serverId: string): Backend | undefined {
    return this.#entries.get(serverId)?.backend;
  }

  forward(serverId: string, method: string, params: string, call: Call): Promise<Answer> {
    const entry = this.#entries.get(serverId);
    if (entry) return entry.backend.forward(method, params, call);
    return Promise.resolve(
      failure(new GoblinError("BACKEND_UNAVAILABLE", `Server "${serverId}" is gone`, { data: { serverId } })),
    );
  }

  /** A request of the gateway's own, on the shared connection. */
  async own(serverId: string, method: string, params: string): Promise<Answer> {
    const peer = this.#entries.get(serverId)?.backend.peer;
    const gone = failure(
      new GoblinError("BACKEND_UNAVAILABLE", `Server "${serverId}" is not connected`, { data: { serverId } }),
    );
    if (!peer) return gone;
    const late = failure(
      new GoblinError("TIMEOUT", `Server "${serverId}" did not answer ${method} in time`, { data: { serverId } }),
    );
    return within(peer.request(method, params), this.#options.config.timeouts.connectMs, late);
  }

  /** A client is gone. */
  release(clientKey: string): void {
    for (const { backend } of this.#entries.values()) backend.release(clientKey);
  }

  notifyOwned(clientKey: string, method: string): void {
    for (const { backend } of this.#entries.values()) backend.notifyOwned(clientKey, method);
  }

  infos(): DescribeSource[] {
    return [...this.#entries.values()].map(({ config, backend }) => ({ id: config.id, info: backend.peer?.info }));
  }

  logLevelChanged(): void {
    for (const { backend } of this.#entries.values()) if (backend.peer) this.#setLevel(backend.peer);
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#entries.values()].map(async (entry) => {
        clearTimeout(entry.graceTimer);
        entry.sync?.close();
        await entry.backend.stop("shutting down");
      }),
    );
  }

  #add(config: ServerConfig): void {
    const { catalog, clientInfo, log: parent } = this.#options;
    const { limits, timeouts } = this.#options.config;
    const log = parent.child({ server: config.id });
    const backend = new Backend({
      id: config.id,
      share: config.share,
      limits: { inFlight: limits.inFlightPerServer, queue: limits.queuePerServer },
      connect: (events, owner) =>
        connectPeer(
          {
            transport: config.transport,
            clientInfo,
            messageCap: limits.resultBytes,
            connectMs: timeouts.connectMs,
            stderr: (line) => log.info({ stream: "stderr" }, line),
          },
          events,
          owner,
        ),
      hooks: {
        connected: (peer, again) => this.#connected(entry, peer, again),
        status: (status) => this.#changedState(entry, status),
        events: (owner) => this.#eventsOf(entry, owner),
      },
    });
    const entry: Entry = { config, backend, log, sync: undefined, graceTimer: undefined, settled: false };
    this.#entries.set(config.id, entry);
    if (config.enabled) catalog.put({ id: config.id, prefix: config.prefix, tools: config.tools });
  }

  async #startOne(entry: Entry): Promise<void> {
    if (entry.config.enabled) await entry.backend.start();
    entry.settled = true;
  }

  async #connected(entry: Entry, peer: Peer, again: boolean): Promise<void> {
    const { id } = entry.config;
    const { catalog, hooks, config } = this.#options;
    clearTimeout(entry.graceTimer);
    entry.sync?.close();
    const sync = new Sync({
      known: catalog.listsOf(id),
      declares: (capability) => capability in peer.info.capabilities,
      request: (method, params) => {
        const late = failure(new GoblinError("TIMEOUT", `no answer within ${config.timeouts.connectMs} ms`));
        return within(peer.request(method, params), config.timeouts.connectMs, late);
      },
      update: (lists) => catalog.update(id, lists),
      failed: (method, error) => {
        entry.log.warn({ method, error: messageOf(error) }, "A list could not be fetched; what was known stays");
      },
    });
    entry.sync = sync;
    this.#setLevel(peer);
    await sync.all();
    if (again) await hooks.restored(id);
  }

  #changedState(entry: Entry, status: BackendStatus): void {
    const { id } = entry.config;
    const { catalog, config, hooks } = this.#options;
    const detail = { state: status.state, ...(status.reason && { reason: status.reason }) };
    if (status.state === "down") {
      entry.log.warn({ ...detail, retryInMs: status.retryAfterMs }, "Server is down");
      entry.sync?.close();
      entry.graceTimer ??= setTimeout(() => catalog.update(id, emptyLists), config.backends.graceMs).unref();
    } else {
      entry.log.info(detail, `Server is ${status.state}`);
      if (status.state === "ready") {
        clearTimeout(entry.graceTimer);
        entry.graceTimer = undefined;
      }
    }
    hooks.status(id, status);
  }

  #eventsOf(entry: Entry, owner: Client | undefined): Omit<PeerEvents, "closed"> {
    const { id } = entry.config;
    const { hooks } = this.#options;
    return {
      changed: (kind) => void entry.sync?.changed(kind),
      updated: (uri, params) => hooks.updated(id, uri, params, owner?.key),
      log: (level, params, origin) => hooks.log(level, params, typeof origin === "object" ? origin : (owner ?? origin)),
      ask: (method, params, origin) => ask({ serverId: id, method, params, origin, owner }),
      problem: (message, detail) =>
        entry.log.warn(detail === undefined ? {} : { detail: detail.slice(0, 200) }, message),
    };
  }

  #setLevel(peer: Peer): void {
    const level = this.#options.hooks.wantedLevel();
    if (level !== undefined && "logging" in peer.info.capabilities) {
      void peer.request("logging/setLevel", JSON.stringify({ level }));
    }
  }
}

interface Question {
  readonly serverId: string;
  readonly method: string;
  readonly params: string;
  readonly origin: Origin;
  readonly owner: Client | undefined;
}

/** Puts a server's question to the client it belongs to. Which one is known, or the server gets an error; it is never guessed. */
async function ask({ serverId, method, params, origin, owner }: Question): Promise<Answer> {
  if (owner) return owner.ask(method, params, typeof origin === "object" ? origin : undefined);
  if (typeof origin === "object") return origin.client.ask(method, params, origin);
  // The gateway itself has no roots; servers ask for them right after the handshake, when no client is there yet.
  if (method === "roots/list" && origin === "none") return { ok: true, raw: '{"roots":[]}' };
  const why =
    origin === "several"
      ? "calls of several clients are under way on this shared connection"
      : "no client's call is under way on this shared connection";
  const message = `${method}: ${why}; set "share": "session" for server "${serverId}" to give each client its own`;
  return failure(new GoblinError("UNDECIDABLE_CLIENT", message, { data: { serverId } }));
}

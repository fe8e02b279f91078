/**
 * One server: its supervised connection, the fetching of its lists, and its listing.
 *
 * Clients see only an attached server: its lists are in the catalog, and its updates and states are
 * reported. A server that is about to replace another, or drains after its replacement, answers
 * calls but changes nothing that clients see.
 */

import type { Logins } from "../../auth/login/logins.ts";
import type { ServerLogin } from "../../auth/login/server-login.ts";
import type { Secrets } from "../../auth/secrets/secrets.ts";
import type { LiveConfig } from "../../config/live-config.ts";
import { formatProblem, summarise } from "../../config/problems/problem.ts";
import type { Config } from "../../config/schema/config.ts";
import { isInvalid, type ServerConfig } from "../../config/schema/server.ts";
import { withTimeout } from "../../lib/timing/with-timeout.ts";
import { setLogLevel } from "../../mcp/peers/log-level.ts";
import type { LinkTap } from "../../mcp/peers/negotiate.ts";
import type { Peer, PeerInfo } from "../../mcp/peers/peer.ts";
import type { Client } from "../../mcp/protocol/call.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import { emptyLists, inputSchemaOf } from "../catalog/definitions.ts";
import type { Lock } from "../lock/lock.ts";
import { Backend, type BackendStatus, backendLimits } from "./backend.ts";
import type { Callers } from "./callers/callers.ts";
import type { ServerCatalog } from "./callers/own-catalog.ts";
import { connectServer, installs } from "./connections/connect-server.ts";
import type { StartQueue } from "./connections/start-queue.ts";
import { type Listed, ListFetcher } from "./list-fetcher.ts";
import type { KeptLists } from "./lists/kept-lists.ts";
import { Listing } from "./lists/listing.ts";
import { OwnLists } from "./lists/own-lists.ts";
import { SESSIONS } from "./owner.ts";
import { Reports, type ReportsHost } from "./reports/reports.ts";
import { StateLog } from "./reports/state-log.ts";

/** What an attempt may take to end after its time limit. */
const SETTLE_MS = 1000;

/** The set that a server belongs to: receives its events and knows its subscribers. */
export interface ServerHost extends ReportsHost {
  readonly logLevel: string | undefined;
  readonly startQueue: StartQueue;
}

export interface ServerOptions {
  readonly config: LiveConfig;
  readonly catalog: ServerCatalog;
  readonly log: Logger;
  readonly onLimit: OnLimit;
  readonly clientInfo: Readonly<Record<string, unknown>>;
  /** Where the lists outlive the process. */
  readonly kept?: Pick<KeptLists, "read" | "keep"> | undefined;
  /** Decides what clients get of what a server lists. */
  readonly lock?: Lock | undefined;
  /** Without it, servers get what the config says and nothing else. */
  readonly logins?: Pick<Logins, "ofServer"> | undefined;
  readonly secrets: Secrets;
  /** Listens to the messages of servers' connections. */
  readonly recorder?: { tap(serverId: string): LinkTap } | undefined;
}

export class Server {
  readonly id: string;
  readonly backend: Backend;
  /** The servers of single principals, if each has a login of its own. */
  callers: Callers | undefined;
  /** It runs beside the server that clients see. Called when something else is known of it. */
  standby: (() => void) | undefined;
  readonly #host: ServerHost;
  readonly #options: ServerOptions;
  #config: ServerConfig;
  #attached = false;
  #wasAttached = false;
  readonly #listing: Listing;
  readonly #fetcher: ListFetcher;
  readonly #stateLog: StateLog;
  readonly #ownLists: OwnLists;
  readonly #reports: Reports;
  readonly #login: ServerLogin | undefined;

  constructor(config: ServerConfig, host: ServerHost, options: ServerOptions) {
    this.id = config.id;
    this.#config = config;
    this.#host = host;
    this.#options = options;
    this.#listing = new Listing({
      ...options,
      server: () => this.#config,
      status: () => this.backend.status,
      hasFailed: () => this.#fetcher.hasFailed,
    });
    const { lock } = options;
    const admit = lock && ((listed: Listed) => lock.admit(this.#config, listed, this.standby !== undefined));
    this.#fetcher = new ListFetcher({
      ...options,
      serverId: config.id,
      admit,
      update: (lists) => {
        this.#listing.update(lists);
        this.standby?.();
      },
      announced: (kinds) => {
        if (this.#listing.isShown) options.catalog.announce(this.id, kinds);
      },
      synced: (ms) => host.emit("synced", config.id, ms),
      problemChanged: () => this.backend.connections.shared.setListProblem(this.#fetcher.problem),
      recovered: () => this.#listing.known(),
    });
    this.#ownLists = new OwnLists({
      ...options,
      serverId: config.id,
      admit,
      common: () => this.#listing.lists,
      update: (ownerKey, lists) => {
        if (this.#attached) options.catalog.own(ownerKey, this.id, lists);
      },
      announced: (ownerKey, kinds) => {
        if (this.#attached) options.catalog.announce(this.id, kinds, ownerKey);
      },
    });
    const secrets = options.secrets.of(config);
    const login = options.logins?.ofServer(config, secrets && (() => secrets.auth()));
    this.#login = login;
    this.#stateLog = new StateLog({ serverId: config.id, log: options.log, status: () => this.backend.status });
    this.#reports = new Reports({
      serverId: config.id,
      host,
      log: options.log,
      isNews: (text) => this.#stateLog.isNews(text),
      backend: () => this.backend,
      isAttached: () => this.#attached,
      wasAttached: () => this.#wasAttached,
      isStandby: () => this.standby !== undefined,
      lists: (owner) => (owner ? this.#ownLists.of(owner.key) : this.#fetcher),
    });
    this.backend = new Backend({
      id: config.id,
      share: config.share,
      invalid: isInvalid(config) ? `its config entry is not valid: ${summarise(config.problems)}` : undefined,
      limits: backendLimits(options.config.current),
      onLimit: options.onLimit,
      installs: installs(config.transport),
      connect: connectServer({
        ...options,
        transport: config.transport,
        era: config.era,
        introduction: async () => host.sole?.introduction(),
        login,
        secrets,
        queue: host.startQueue,
        starting: (start) => this.backend.connections.shared.starting(start),
        onHint: (hint) => this.backend.connections.shared.setHint(hint),
        stderr: (line) => this.#stateLog.stderr(line),
        tap: options.recorder && (() => options.recorder!.tap(config.id)),
        inputSchema: (tool) => inputSchemaOf(this.#listing.lists ?? emptyLists, tool),
      }),
      hooks: {
        connected: (peer) => this.#connected(peer),
        status: (status) => this.#changedState(status),
        restarting: () => secrets?.forget(),
        events: (owner) => this.#reports.of(owner),
        ownedRestored: (ownerKey) => {
          if (this.#attached) host.emit("ownRestored", this.id, ownerKey);
        },
        sessionsConnected: (peer, again) => {
          setLogLevel(peer, host.logLevel);
          if (!this.#attached) return;
          if (again) host.emit("ownRestored", this.id, SESSIONS);
          else host.subscribers.moved(this.id);
        },
        ownConnected: (owner, peer) => this.#ownLists.connect(owner.key, peer),
        refused: (answer, client) => this.#reports.refused(answer, client),
        wantsOwned: (ownerKey) => this.#attached && host.subscribers.wantsConnection(this.id, ownerKey),
      },
    });
    if (!login) return;
    login.onLogin = () => {
      this.backend.connections.shared.loggedIn();
      host.emit("loggedIn", this.id, login.owner);
    };
    login.onProblem = (problem) => this.backend.connections.shared.setLoginProblem(problem);
  }

  get config(): ServerConfig {
    return this.#config;
  }

  /** The server's description of itself: the current one, or the last one. */
  get info(): PeerInfo | undefined {
    const info = this.backend.peer?.info ?? this.#listing.info;
    const { lock } = this.#options;
    return lock ? lock.describe(this.id, info) : info;
  }

  /** All that the connected server has, and how it describes itself. */
  get listed(): Listed | undefined {
    return this.#fetcher.listed ?? this.callers?.values().find(({ listed }) => listed)?.listed;
  }

  /** The lock decides otherwise than before. Resolves when its lists are as the lock says now. */
  async readmit(): Promise<void> {
    const all = [this, ...(this.callers?.values() ?? [])].map((server) => {
      server.#listing.readmit();
      server.#ownLists.readmit();
      return server.#fetcher.readmit();
    });
    await Promise.all(all);
  }

  /** Whether it has lists to show, if only kept ones. */
  get hasLists(): boolean {
    return this.#listing.lists !== undefined;
  }

  /**
   * Resolves when the first attempt to connect has succeeded or failed. A program that is merely
   * silent is not waited for longer than `timeouts.connectMs`, unless it may be installing.
   */
  async start(): Promise<void> {
    if (isInvalid(this.#config)) {
      const problems = this.#config.problems.map(formatProblem);
      const detail = { server: this.id, state: "invalid", problems };
      return this.#options.log.error(detail, "Server is disabled: its entry in the config cannot be used");
    }
    if (!this.#config.enabled) return;
    const { connectMs, startMs } = this.#options.config.current.timeouts;
    const patienceMs = installs(this.#config.transport) ? Math.max(connectMs, startMs) : connectMs;
    await withTimeout(this.backend.start(), patienceMs + SETTLE_MS, undefined);
  }

  /** Makes this server the one that clients see under its id. */
  attach(): void {
    const wasStandby = this.standby !== undefined;
    this.standby = undefined;
    this.#attached = true;
    this.#wasAttached = true;
    this.#listing.attach();
    // From now on, its differences are those that people see.
    if (wasStandby) void this.readmit();
  }

  detach(): void {
    this.#ownLists.close();
    this.#attached = false;
    this.#fetcher.close();
    this.#listing.detach();
  }

  /** What those who run the gateway see. */
  get status(): BackendStatus {
    const status = this.callers?.status(this.backend.status) ?? this.backend.status;
    const { lock } = this.#options;
    return lock ? { ...status, info: lock.describe(this.id, status.info) } : status;
  }

  /** Returns what serves this client: for a principal with a login of its own, its own server. */
  servingOf(client: Client): Server {
    return this.callers?.of(client) ?? this;
  }

  /** A client read a list. */
  listRead(clientKey: string): void {
    if (this.#ownLists.of(clientKey)) this.#ownLists.read(clientKey);
    else if (this.#listing.lists) this.#fetcher.read(this.#listing.lists);
  }

  /** The server does not know a tool that its list names. */
  contradicted(clientKey: string): void {
    (this.#ownLists.of(clientKey) ?? this.#fetcher).contradicted();
  }

  /** Applies settings that need no new connection: names, policies, timeouts. */
  adjust(config: ServerConfig): void {
    const { transport, share, enabled } = this.#config;
    this.#config = { ...config, transport, share, enabled };
    for (const server of this.callers?.values() ?? []) server.adjust(config);
    this.#listing.show();
  }

  configure(config: Config): void {
    for (const server of this.callers?.values() ?? []) server.configure(config);
    this.backend.configure(backendLimits(config));
    this.#fetcher.configChanged();
  }

  /** Waits up to `drainMs` for calls in flight, then closes the connection. */
  async retire(drainMs: number): Promise<void> {
    this.detach();
    const all = [this, ...(this.callers?.values() ?? [])];
    await Promise.all(all.map(({ backend }) => backend.drained(drainMs)));
    await this.stop("replaced");
  }

  async stop(reason: string): Promise<void> {
    this.#listing.stopped(reason);
    this.detach();
    this.#login?.close();
    await Promise.all([this.backend.stop(reason), this.callers?.stop(reason)]);
    this.#stateLog.close();
  }

  /** Closes the connection of a client that is gone. */
  release(clientKey: string): void {
    for (const server of this.callers?.values() ?? []) server.release(clientKey);
    this.backend.connections.release(clientKey);
    this.#ownLists.release(clientKey);
  }

  setLevel(level: string | undefined): void {
    const { peer } = this.backend;
    const { sessionsPeer } = this.backend.connections;
    if (peer) setLogLevel(peer, level);
    if (sessionsPeer) setLogLevel(sessionsPeer, level);
  }

  async #connected(peer: Peer): Promise<string | undefined> {
    this.#listing.endGrace();
    this.setLevel(this.#host.logLevel);
    const isFetched = await this.#fetcher.connect(peer, this.#listing.lists);
    if (isFetched) this.#listing.fetched(peer.info, this.#fetcher.problem);
    // A server is ready when clients can see its lists.
    await this.#options.catalog.caughtUp();
    if (this.#attached) await this.#host.subscribers.restored(this.id);
    return this.#fetcher.problem;
  }

  #changedState(status: BackendStatus): void {
    this.#stateLog.changed(status);
    const { state } = status;
    // All connections are closed, also those of single clients.
    if (state === "disabled") this.#ownLists.close();
    if (state === "down" || state === "needs-login" || state === "invalid") this.#fetcher.close();
    this.#listing.grace(status);
    this.#listing.stand();
    this.standby?.();
    if (this.#attached) this.#host.emit("status", this.id, status);
  }
}

/**
 * One server: its supervised connection, its lists, and its entries in the catalog.
 *
 * Clients see only an attached server: its lists are in the catalog, and its updates and states are
 * reported. A server that is about to replace another, or drains after its replacement, answers
 * calls but changes nothing that clients see. A server that is down keeps its entries for a grace
 * period; then they are withdrawn until it is back. The catalog always knows whether a server's
 * lists are known, so that requests for its names can wait. Until a new server's lists are known,
 * it shows those that an earlier process kept.
 */

import type { Catalog } from "../catalog/catalog.ts";
import { emptyLists, inputSchemaOf, type ServerLists } from "../catalog/definitions.ts";
import { DISABLED, KNOWN, STARTING, type Standing } from "../catalog/standing.ts";
import type { LiveConfig } from "../config/live-config.ts";
import { formatProblem, summarise } from "../config/problems/problem.ts";
import type { Config } from "../config/schema/config.ts";
import { isInvalid, type ServerConfig } from "../config/schema/server.ts";
import type { Logins } from "../login/logins.ts";
import type { ServerLogin } from "../login/server-login.ts";
import { setLogLevel } from "../peers/log-level.ts";
import type { Peer, PeerInfo } from "../peers/peer.ts";
import type { OnLimit } from "../protocol/limit-exceeded.ts";
import type { Logger } from "../telemetry/logger.ts";
import { withTimeout } from "../timing/with-timeout.ts";
import { Backend } from "./backend.ts";
import { type BackendStatus, backendLimits, SESSIONS } from "./backend-options.ts";
import { connectServer, installs } from "./connections/connect-server.ts";
import type { StartQueue } from "./connections/start-queue.ts";
import { ListFetcher } from "./list-fetcher.ts";
import type { KeptLists } from "./lists/kept-lists.ts";
import { OwnLists } from "./lists/own-lists.ts";
import { Reports, type ReportsHost } from "./reports/reports.ts";
import { StateLog } from "./state-log.ts";

/** What an attempt may take to end after its time limit. */
const SETTLE_MS = 1000;

/** The set that a server belongs to: receives its events and knows its subscribers. */
export interface ServerHost extends ReportsHost {
  readonly logLevel: string | undefined;
  readonly startQueue: StartQueue;
}

export interface ServerOptions {
  readonly config: LiveConfig;
  readonly catalog: Catalog;
  readonly log: Logger;
  readonly onLimit: OnLimit;
  readonly clientInfo: Readonly<Record<string, unknown>>;
  /** Where the lists outlive the process. */
  readonly kept?: KeptLists | undefined;
  /** Without it, servers get what the config says and nothing else. */
  readonly logins?: Logins | undefined;
}

/** The server's own words stay in its status: clients see this. */
const UNLISTED: Standing = { kind: "down", reason: "its lists could not be fetched yet" };

export class Server {
  readonly id: string;
  readonly backend: Backend;
  readonly #host: ServerHost;
  readonly #options: ServerOptions;
  #config: ServerConfig;
  #attached = false;
  #wasAttached = false;
  /** Undefined until the first sync, unless kept, and after a withdrawal. */
  #lists: ServerLists | undefined;
  /** The server's last description of itself, as long as it has lists. */
  #info: PeerInfo | undefined;
  /** Whether all lists have been fetched. */
  #isKnown = false;
  readonly #fetcher: ListFetcher;
  readonly #stateLog: StateLog;
  readonly #ownLists: OwnLists;
  readonly #reports: Reports;
  #graceTimer: NodeJS.Timeout | undefined;
  readonly #login: ServerLogin | undefined;

  constructor(config: ServerConfig, host: ServerHost, options: ServerOptions) {
    this.id = config.id;
    this.#config = config;
    this.#host = host;
    this.#options = options;
    const kept = config.enabled ? options.kept?.read(config) : undefined;
    this.#lists = kept?.lists;
    this.#info = kept?.info;
    this.#fetcher = new ListFetcher({
      ...options,
      serverId: config.id,
      update: (lists) => this.#update(lists),
      announced: (kinds) => {
        if (this.#attached && this.#isKnown) options.catalog.announce(kinds);
      },
      synced: (ms) => host.emit("synced", config.id, ms),
      problemChanged: () => this.backend.setListProblem(this.#fetcher.problem),
      recovered: () => this.#known(),
    });
    this.#ownLists = new OwnLists({
      ...options,
      serverId: config.id,
      common: () => this.#lists,
      update: (ownerKey, lists) => {
        if (this.#attached) options.catalog.own(ownerKey, this.id, lists);
      },
      announced: (ownerKey, kinds) => {
        if (this.#attached) options.catalog.announceTo(ownerKey, kinds);
      },
      differ: () => this.backend.ownership.listsApart(),
    });
    const login = options.logins?.ofServer(config);
    this.#login = login;
    this.#stateLog = new StateLog({ serverId: config.id, log: options.log, status: () => this.backend.status });
    this.#reports = new Reports({
      ...{ serverId: config.id, host, log: options.log },
      backend: () => this.backend,
      isAttached: () => this.#attached,
      wasAttached: () => this.#wasAttached,
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
        login,
        queue: host.startQueue,
        starting: (start) => this.backend.starting(start),
        onHint: (hint) => this.backend.setHint(hint),
        stderr: (line) => this.#stateLog.stderr(line),
        inputSchema: (tool) => inputSchemaOf(this.#lists ?? emptyLists, tool),
      }),
      hooks: {
        connected: (peer) => this.#connected(peer),
        status: (status) => this.#changedState(status),
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
      this.backend.loggedIn();
      host.emit("loggedIn", this.id, login.owner);
    };
    login.onProblem = (problem) => this.backend.setLoginProblem(problem);
  }

  get config(): ServerConfig {
    return this.#config;
  }

  /** The server's description of itself: the current one, or the last one. */
  get info(): PeerInfo | undefined {
    return this.backend.peer?.info ?? this.#info;
  }

  /** Whether it has lists to show, if only kept ones. */
  get hasLists(): boolean {
    return this.#lists !== undefined;
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
    this.#attached = true;
    this.#wasAttached = true;
    const { catalog } = this.#options;
    this.#show();
    this.#stand(this.backend.status);
    if (!this.#config.enabled || isInvalid(this.#config)) return catalog.update(this.id, emptyLists);
    if (this.#lists) catalog.update(this.id, this.#lists);
    // The catalog still lists kept entries, or the predecessor's. They stay for the same grace
    // period as those of a server that is down.
    if (!this.#isKnown) this.#grace(this.backend.status);
  }

  detach(): void {
    this.#ownLists.close();
    this.#attached = false;
    this.#fetcher.close();
    clearTimeout(this.#graceTimer);
  }

  /** A client read a list. */
  listRead(clientKey: string): void {
    if (this.#ownLists.of(clientKey)) this.#ownLists.read(clientKey);
    else if (this.#lists) this.#fetcher.read(this.#lists);
  }

  /** The server does not know a tool that its list names. */
  contradicted(clientKey: string): void {
    (this.#ownLists.of(clientKey) ?? this.#fetcher).contradicted();
  }

  /** Applies settings that need no new connection: names, policies, timeouts. */
  adjust(config: ServerConfig): void {
    const { transport, share, enabled } = this.#config;
    this.#config = { ...config, transport, share, enabled };
    if (this.#attached) this.#show();
  }

  configure(config: Config): void {
    this.backend.configure(backendLimits(config));
    this.#fetcher.configChanged();
  }

  /** Waits up to `drainMs` for calls in flight, then closes the connection. */
  async retire(drainMs: number): Promise<void> {
    this.detach();
    await this.backend.drained(drainMs);
    await this.stop("replaced");
  }

  async stop(reason: string): Promise<void> {
    if (this.#attached) this.#options.catalog.stand(this.id, { kind: "down", reason });
    this.detach();
    this.#login?.close();
    await this.backend.stop(reason);
    this.#stateLog.close();
  }

  /** Closes the connection of a client that is gone. */
  release(clientKey: string): void {
    this.backend.release(clientKey);
    this.#ownLists.release(clientKey);
  }

  setLevel(level: string | undefined): void {
    const { peer, sessionsPeer } = this.backend;
    if (peer) setLogLevel(peer, level);
    if (sessionsPeer) setLogLevel(sessionsPeer, level);
  }

  async #connected(peer: Peer): Promise<string | undefined> {
    this.#endGrace();
    this.setLevel(this.#host.logLevel);
    if (await this.#fetcher.connect(peer, this.#lists)) {
      this.#lists ??= emptyLists;
      this.#info = peer.info;
      if (this.#fetcher.hasFailed) this.#stand(this.backend.status);
      else this.#known();
      if (this.#fetcher.problem === undefined) this.#keep();
    }
    // A server is ready when clients can see its lists.
    await this.#options.catalog.caughtUp();
    if (this.#attached) await this.#host.subscribers.restored(this.id);
    return this.#fetcher.problem;
  }

  #known(): void {
    this.#isKnown = true;
    this.#stand(this.backend.status);
  }

  #update(lists: ServerLists): void {
    this.#lists = lists;
    if (this.#attached) this.#options.catalog.update(this.id, lists);
    if (this.#isKnown) this.#keep();
  }

  #keep(): void {
    const { kept } = this.#options;
    if (kept && this.info) kept.keep(this.#config, { lists: this.#lists ?? emptyLists, info: this.info });
  }

  #show(): void {
    const { prefix, tools, expose } = this.#config;
    this.#options.catalog.put({ id: this.id, prefix, tools, expose });
  }

  #stand({ state, reason, retryAfterMs }: BackendStatus): void {
    if (!this.#attached) return;
    const { catalog } = this.#options;
    if (state === "invalid") catalog.stand(this.id, { kind: "invalid", reason: reason ?? state });
    else if (!this.#config.enabled) catalog.stand(this.id, DISABLED);
    else if (this.#isKnown) catalog.stand(this.id, KNOWN);
    else if (state === "needs-login") catalog.stand(this.id, { kind: state, reason: reason ?? "It needs a login" });
    else if (state !== "down" && this.#fetcher.hasFailed) catalog.stand(this.id, UNLISTED);
    else if (state !== "down") catalog.stand(this.id, STARTING);
    else {
      const retryAt = retryAfterMs === undefined ? undefined : Date.now() + retryAfterMs;
      catalog.stand(this.id, { kind: "down", reason: reason ?? "it is not connected", retryAt });
    }
  }

  /** The lists of a server that waits for a login stay: the user may come back at any time. */
  #grace({ state }: BackendStatus): void {
    if (state === "needs-login" && this.#lists) return this.#endGrace();
    if (state !== "down" && state !== "needs-login") return;
    const { graceMs } = this.#options.config.current.backends;
    this.#graceTimer ??= setTimeout(() => this.#withdraw(), graceMs).unref();
  }

  #endGrace(): void {
    clearTimeout(this.#graceTimer);
    this.#graceTimer = undefined;
  }

  #withdraw(): void {
    this.#lists = undefined;
    this.#info = undefined;
    this.#isKnown = false;
    if (this.#attached) this.#options.catalog.update(this.id, emptyLists);
    this.#stand(this.backend.status);
  }

  #changedState(status: BackendStatus): void {
    this.#stateLog.changed(status);
    const { state } = status;
    // All connections are closed, also those of single clients.
    if (state === "disabled") this.#ownLists.close();
    if (state === "down" || state === "needs-login") this.#fetcher.close();
    if (this.#attached) this.#grace(status);
    this.#stand(status);
    if (this.#attached) this.#host.emit("status", this.id, status);
  }
}

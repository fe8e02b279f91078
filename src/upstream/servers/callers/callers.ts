/**
 * A server that each principal uses with a login of its own: one supervised server per principal,
 * with its own connections, breaker and lists.
 *
 * Nothing of one principal's server reaches another: not its tokens, not its connections, not what
 * it lists. A principal without a login has no server here, and so no connection. The number of
 * servers is bounded; those that nobody uses are closed, and opened again when they are used.
 */

import type { Logins } from "../../../auth/login/logins.ts";
import type { ServerConfig } from "../../../config/schema/server.ts";
import type { Client } from "../../../mcp/protocol/call.ts";
import { GoblinError } from "../../../mcp/protocol/errors.ts";
import { principalKey } from "../../catalog/views/own-lists.ts";
import type { BackendStatus } from "../backend.ts";
import type { Server, ServerHost, ServerOptions } from "../server.ts";
import { catalogOf } from "./own-catalog.ts";
import { eventsOf } from "./own-events.ts";

/** The parts of a server that is made for one principal. */
export type MakeServer = (config: ServerConfig, host: ServerHost, options: ServerOptions) => Server;

export interface CallersOptions {
  readonly config: ServerConfig;
  readonly host: ServerHost;
  readonly options: ServerOptions;
  readonly make: MakeServer;
}

interface Entry {
  readonly server: Server;
  started: Promise<void>;
  usedAt: number;
}

const IDLE_MS = 10 * 60_000;
const LOOK_EVERY_MS = 60_000;

export class Callers {
  readonly #options: CallersOptions;
  readonly #logins: Logins;
  /** By principal, least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #timer: NodeJS.Timeout;
  #isStopped = false;

  constructor(options: CallersOptions, logins: Logins) {
    this.#options = options;
    this.#logins = logins;
    this.#timer = setInterval(() => this.#closeIdle(), LOOK_EVERY_MS).unref();
  }

  /** Returns the server of this client's principal; undefined: it has no login. */
  of(client: Pick<Client, "principal">): Server | undefined {
    return this.#enter(client)?.server;
  }

  /** The same, but does not open it. */
  opened(principal: string): Server | undefined {
    return this.#entries.get(principal)?.server;
  }

  /** Resolves when the lists of this client's principal are known. Undefined: they are. */
  prepare(client: Pick<Client, "principal">): Promise<void> | undefined {
    const entry = this.#enter(client);
    return entry && !entry.server.hasLists ? entry.started : undefined;
  }

  /** Why the server of this client's principal has no lists; undefined: it wants a login. */
  problem(client: Pick<Client, "principal">): GoblinError | undefined {
    const server = this.of(client);
    const { state, reason = state, retryAfterMs } = server?.backend.status ?? {};
    if (!server || state === "needs-login") return undefined;
    const data = { serverId: server.id, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    return new GoblinError("BACKEND_UNAVAILABLE", `Server "${server.id}" is unavailable: ${reason}`, { data });
  }

  values(): Server[] {
    return [...this.#entries.values()].map(({ server }) => server);
  }

  /** The server's status for those who run the gateway. */
  status(own: BackendStatus): BackendStatus {
    const all = this.values().map(({ backend }) => backend.status);
    const ready = all.filter(({ state }) => state === "ready" || state === "degraded");
    const reason = `each caller logs in for itself; ${ready.length} ${ready.length === 1 ? "is" : "are"} connected`;
    const inFlight = all.reduce((sum, one) => sum + one.inFlight, 0);
    const info = ready[0]?.info ?? own.info;
    return { ...own, info, inFlight, reason, state: ready.length > 0 ? "ready" : own.state };
  }

  async stop(reason: string): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await Promise.all([...this.#entries.keys()].map((principal) => this.#close(principal, reason)));
  }

  #enter({ principal }: Pick<Client, "principal">): Entry | undefined {
    if (this.#isStopped || (principal === "" && !this.#logins.isLocal())) return undefined;
    const known = this.#entries.get(principal);
    if (known) {
      known.usedAt = Date.now();
      this.#entries.delete(principal);
      this.#entries.set(principal, known);
      return known;
    }
    if (!this.#logins.hasLogin(this.#options.config.id, principal)) return undefined;
    this.#makeRoom();
    const server = this.#make(principal);
    const entry = { server, usedAt: Date.now(), started: server.start() };
    this.#entries.set(principal, entry);
    return entry;
  }

  #make(principal: string): Server {
    const { config, host, options, make } = this.#options;
    const own: ServerHost = {
      ...eventsOf(host, principal),
      sole: undefined,
      asksSole: () => {},
      logLevel: host.logLevel,
      startQueue: host.startQueue,
    };
    const { kept } = options;
    const keptId = (of: ServerConfig): ServerConfig => ({ ...of, id: `${of.id} ${principal}` });
    const server = make(config, own, {
      ...options,
      catalog: catalogOf(options.catalog, principal),
      logins: { ofServer: (of) => this.#logins.ofCaller(of, principal) },
      kept: kept && { read: (of) => kept.read(keptId(of)), keep: (of, lists) => kept.keep(keptId(of), lists) },
    });
    server.attach();
    return server;
  }

  #closeIdle(): void {
    const before = Date.now() - IDLE_MS;
    for (const [principal, { server, usedAt }] of this.#entries) {
      if (usedAt < before && server.backend.status.inFlight === 0 && !this.#isListenedTo(principal))
        void this.#close(principal, "not used");
    }
  }

  #makeRoom(): void {
    const most = this.#options.options.config.current.limits.connectionsPerServer;
    if (this.#entries.size < most) return;
    const unused = [...this.#entries].filter(([, { server }]) => server.backend.status.inFlight === 0);
    const idle = unused.find(([principal]) => !this.#isListenedTo(principal)) ?? unused[0];
    if (idle) void this.#close(idle[0], "not used");
  }

  /** Whether somebody waits for updates of the principal's server. */
  #isListenedTo(principal: string): boolean {
    const { config, host } = this.#options;
    return host.subscribers.wantsConnection(config.id, principalKey(principal));
  }

  async #close(principal: string, reason: string): Promise<void> {
    const entry = this.#entries.get(principal);
    this.#entries.delete(principal);
    await entry?.server.stop(reason);
  }
}

/** The server that an error says wants a login. */
export function wantingLogin(error: unknown): string | undefined {
  const serverId =
    error instanceof GoblinError && error.code === "LOGIN_REQUIRED" ? error.data?.["serverId"] : undefined;
  return typeof serverId === "string" ? serverId : undefined;
}

/**
 * Wires the stages; the only file that knows them all. No protocol and no policy of its own.
 */

import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable, Writable } from "node:stream";
import { createAdaptorServer } from "@hono/node-server";
import { Catalog } from "./catalog/catalog.ts";
import type { Snapshot } from "./catalog/snapshot.ts";
import type { Config } from "./config/schema.ts";
import type { Core } from "./front/core.ts";
import { createGuard, isLoopback } from "./front/guard.ts";
import { createHttpFront } from "./front/http.ts";
import { type StdioFront, serveStdio } from "./front/stdio.ts";
import { messageOf } from "./model/errors.ts";
import { notificationText } from "./model/json-rpc.ts";
import { changeNotifications } from "./model/methods.ts";
import { compose } from "./pipeline/compose.ts";
import { deadline } from "./pipeline/deadline.ts";
import { createDispatch } from "./pipeline/dispatch.ts";
import { output } from "./pipeline/output.ts";
import { describeServers } from "./router/describe.ts";
import { Servers } from "./router/servers.ts";
import { deliverLog, wantedLevel } from "./session/logs.ts";
import { SessionStore } from "./session/store.ts";
import { subscriptionMethods } from "./session/subscribing.ts";
import { Subscriptions } from "./session/subscriptions.ts";
import type { Logger } from "./telemetry/logger.ts";
import { version } from "./version.ts";

export interface GatewayOptions {
  readonly config: Config;
  readonly log: Logger;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
}

export interface Gateway {
  /** The gateway as a web handler, for other runtimes and for tests in process. */
  fetch(request: Request): Promise<Response>;
  /** Starts the backends and listens on the configured address. */
  listen(): Promise<Listening>;
  /** Starts the backends and serves one client on these streams. */
  stdio(streams: { readonly input: Readable; readonly output: Writable }): StdioFront;
  /** Starts the backends; ends when each has connected or failed once. */
  start(): Promise<void>;
  readonly catalog: Catalog;
  snapshot(): Snapshot;
  readonly servers: Servers;
  close(): Promise<void>;
}

const serverInfo = { name: "goblin", title: "Goblin", version };

export function createGateway({ config, log }: GatewayOptions): Gateway {
  const catalog = new Catalog({
    maxNameLength: config.names.maxLength,
    uris: config.resources.uris,
    pageSize: config.lists.pageSize,
    local: [],
  });
  const sessions = new SessionStore(config.limits);
  const servers: Servers = new Servers({
    config,
    catalog,
    log,
    clientInfo: serverInfo,
    hooks: {
      log: (level, params, to) => deliverLog(sessions, { level, params, to }),
      updated: (serverId, uri, params, ownerKey) => subscriptions.updated(serverId, uri, params, ownerKey),
      restored: (serverId) => subscriptions.restored(serverId),
      removed: (serverId) => subscriptions.dropServer(serverId),
      wantedLevel: () => wantedLevel(sessions),
      status: () => {},
    },
  });
  const subscriptions: Subscriptions = new Subscriptions({
    limitPerClient: () => config.limits.subscriptionsPerClient,
    supports: (serverId) =>
      Boolean((servers.capability(serverId, "resources") as { subscribe?: boolean } | undefined)?.subscribe),
    isShared: (serverId) => servers.config(serverId)?.share !== "session",
    upstream: (serverId, method, uri, call) => {
      const params = JSON.stringify({ uri });
      return call ? servers.forward(serverId, method, params, call) : servers.own(serverId, method, params);
    },
    changed: () => {},
  });

  const run = compose(
    [
      deadline({
        limitMs: (serverId, toolMs) => toolMs ?? servers.config(serverId)?.timeoutMs ?? config.timeouts.callMs,
        maxMs: () => config.timeouts.maxCallMs,
      }),
      output(),
    ],
    (call, route) => servers.forward(route.serverId, call.method, route.params, call),
  );
  const core: Core = {
    handle: createDispatch({
      catalog,
      run,
      own: subscriptionMethods({ catalog, subscriptions, session: (key) => sessions.get(key) }),
      localTool: () => undefined,
      refused: (call, answer) =>
        log.debug({ method: call.method, requestId: call.requestId, code: answer.ok ? 0 : answer.code }, "refused"),
    }),
    describe: () => ({ serverInfo, ...describeServers(servers.infos(), { settled: servers.settled }) }),
    opened: (session) =>
      session.onEnd(() => {
        subscriptions.dropClient(session.key);
        servers.release(session.key);
      }),
    logLevelChanged: () => servers.logLevelChanged(),
    rootsChanged: (session) => servers.notifyOwned(session.key, "notifications/roots/list_changed"),
    sessions,
    limits: config.limits,
  };
  catalog.on("change", (kinds) => {
    const texts = kinds.map((kind) => notificationText(changeNotifications[kind]));
    for (const session of sessions) if (session.initialized) for (const text of texts) session.notify(text);
  });

  const guard = createGuard(config.gateway);
  const front = createHttpFront({ core, guard: () => guard, isReady: () => servers.settled });
  let http: Server | undefined;
  let stdioFront: StdioFront | undefined;

  return {
    catalog,
    servers,
    fetch: async (request) => front.app.fetch(request),
    snapshot: () => catalog.snapshot,
    start: () => servers.start(),
    async listen() {
      const { host, port, auth } = config.gateway;
      const server = createAdaptorServer({ fetch: front.app.fetch }) as Server;
      http = server;
      server.keepAliveTimeout = 60_000;
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, resolve);
      });
      server.on("error", (error) => log.error({ error: messageOf(error) }, "HTTP server"));
      if (!isLoopback(host) && auth.tokens.length === 0) {
        log.warn(`Listening on ${host} without gateway.auth: everybody who reaches this address can use all servers`);
      }
      void servers.start();
      const address = server.address() as AddressInfo;
      const shown = host.includes(":") ? `[${host}]` : host;
      return { url: `http://${shown}:${address.port}/mcp`, port: address.port };
    },
    stdio(streams) {
      void servers.start();
      stdioFront = serveStdio(core, streams);
      return stdioFront;
    },
    async close() {
      stdioFront?.close();
      front.close();
      sessions.close();
      const closed = http && new Promise<void>((resolve) => http!.close(() => resolve()));
      http?.closeAllConnections();
      await Promise.all([closed, servers.close()]);
    },
  };
}

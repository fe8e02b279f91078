/**
 * Wires the stages; the only file that knows them all. No protocol and no policy of its own.
 */

import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable, Writable } from "node:stream";
import { createAdaptorServer } from "@hono/node-server";
import { createAdminApi } from "./admin/api.ts";
import type { ReloadResult } from "./admin/schema.ts";
import { noSizes, sizesOf } from "./admin/sizes.ts";
import { Catalog } from "./catalog/catalog.ts";
import { createSearchIndex } from "./catalog/search.ts";
import { feedSearch } from "./catalog/search-feed.ts";
import type { Snapshot, SnapshotSettings } from "./catalog/snapshot.ts";
import { diffConfig } from "./config/diff.ts";
import { logSecrets } from "./config/log-secrets.ts";
import type { Config } from "./config/schema.ts";
import type { Core } from "./front/core.ts";
import { createGuard, isLoopback } from "./front/guard.ts";
import { createHttpFront } from "./front/http.ts";
import { type StdioFront, serveStdio } from "./front/stdio.ts";
import { createLocalTools, metaDefinitions } from "./meta/registry.ts";
import { messageOf } from "./model/errors.ts";
import { notificationText } from "./model/json-rpc.ts";
import { changeNotifications } from "./model/methods.ts";
import { compose } from "./pipeline/compose.ts";
import { deadline } from "./pipeline/deadline.ts";
import { createDispatch } from "./pipeline/dispatch.ts";
import { Counting } from "./pipeline/metrics.ts";
import { output } from "./pipeline/output.ts";
import { describeServers } from "./router/describe.ts";
import { serverHealth } from "./router/health.ts";
import { Servers } from "./router/servers.ts";
import { deliverLog, wantedLevel } from "./session/logs.ts";
import { SessionStore } from "./session/store.ts";
import { createSubscribing } from "./session/subscribing.ts";
import { Subscriptions } from "./session/subscriptions.ts";
import { Activity } from "./telemetry/activity.ts";
import { type Logger, logBookOf } from "./telemetry/logger.ts";
import { Meters } from "./telemetry/meters.ts";
import { createMetrics } from "./telemetry/metrics.ts";
import { version } from "./version.ts";

export interface GatewayOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Where the config came from; the API shows it. */
  readonly configPath?: string | undefined;
  /** Reads the config again; without it there is nothing to read. */
  readonly reload?: (() => Promise<ReloadResult>) | undefined;
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

export function createGateway(options: GatewayOptions): Gateway {
  const { log } = options;
  // Replaced as a whole by `reload`; what reads it through a function sees the newest.
  let config = options.config;
  const catalog = new Catalog(snapshotSettings(config));
  const sessions = new SessionStore(config.limits);
  const meters = new Meters();
  const activity = new Activity();
  const counting = new Counting({ meters, activity });
  const logs = logBookOf(log);
  logs.masker.hide(logSecrets(config));
  const servers: Servers = new Servers({
    config: () => config,
    catalog,
    log,
    clientInfo: serverInfo,
    hooks: {
      log: (level, params, to) => deliverLog(sessions, { level, params, to }),
      updated: (serverId, uri, params, ownerKey) => subscriptions.updated(serverId, uri, params, ownerKey),
      restored: (serverId) => subscriptions.restored(serverId),
      ownedRestored: (serverId, ownerKey) => void subscriptions.ownedRestored(serverId, ownerKey),
      wantsOwned: (serverId, ownerKey) => subscriptions.has(serverId, ownerKey),
      removed: (serverId) => {
        subscriptions.dropServer(serverId);
        admin.feed.serverChanged(serverId);
      },
      wantedLevel: () => wantedLevel(sessions),
      status: (serverId) => admin.feed.serverChanged(serverId),
      synced: (serverId, ms) => meters.synced(serverId, ms),
    },
  });
  const subscriptions: Subscriptions = new Subscriptions({
    limitPerClient: () => config.limits.subscriptionsPerClient,
    supports: (serverId) =>
      Boolean((servers.capability(serverId, "resources") as { subscribe?: boolean } | undefined)?.subscribe),
    isShared: (serverId) => servers.config(serverId)?.share !== "session",
    isReady: (serverId) => servers.status(serverId)?.state === "ready",
    upstream: ({ serverId, method, uri, call, ownerKey }) => {
      const params = JSON.stringify({ uri });
      if (call) return servers.forward(serverId, method, params, call);
      return servers.own(serverId, method, params, ownerKey === undefined ? undefined : sessions.get(ownerKey));
    },
    changed: () => admin.feed.listChanged("subscriptions"),
  });

  const run = compose(
    [
      counting.stage,
      deadline({
        limitMs: (serverId, toolMs) => toolMs ?? servers.config(serverId)?.timeoutMs ?? config.timeouts.callMs,
        maxMs: () => config.timeouts.maxCallMs,
      }),
      output(),
    ],
    (call, route) => servers.forward(route.serverId, call.method, route.params, call),
  );
  const subscribing = createSubscribing({ catalog, subscriptions, session: (key) => sessions.get(key) });
  const release = (clientKey: string): void => {
    subscriptions.dropClient(clientKey);
    servers.release(clientKey);
  };
  const search = feedSearch(catalog, createSearchIndex());
  const started = Date.now();
  const localTool = createLocalTools({
    snapshot: () => catalog.snapshot,
    search: search.find,
    servers: () => serverHealth(servers),
    gateway: () => ({ version, uptimeMs: Date.now() - started, settled: servers.settled }),
    dispatch: (call) => core.handle(call),
  });
  const core: Core = {
    handle: counting.lists(
      createDispatch({
        catalog,
        run,
        own: counting.locals(subscribing.methods),
        localTool: (name) => {
          const tool = localTool(name);
          return tool && counting.local(tool);
        },
        refused: (call, answer) => {
          counting.refused(call, answer);
          log.debug({ method: call.method, requestId: call.requestId, code: answer.ok ? 0 : answer.code }, "refused");
        },
      }),
    ),
    describe: () => ({ serverInfo, ...describeServers(servers.infos(), { settled: servers.settled }) }),
    opened: (session) => {
      admin.feed.listChanged("sessions");
      session.onEnd(() => {
        release(session.key);
        admin.feed.listChanged("sessions");
      });
    },
    logLevelChanged: () => servers.logLevelChanged(),
    rootsChanged: (session) => servers.notifyOwned(session.key, "notifications/roots/list_changed"),
    serverInfo,
    cacheHints: () => ({ ttlMs: 0, cacheScope: "private" }),
    inputSchema: (tool) => catalog.snapshot.tools.find(tool)?.definition.value["inputSchema"],
    routesExtension: () => false,
    onChange: (listener) => {
      catalog.on("change", listener);
      return () => catalog.off("change", listener);
    },
    subscribe: (clientKey, uri, deliver) => subscribing.subscribe(clientKey, uri, deliver),
    release,
    sessions,
    limits: config.limits,
  };
  catalog.on("change", (kinds) => {
    const texts = kinds.map((kind) => notificationText(changeNotifications[kind]));
    for (const session of sessions) if (session.initialized) for (const text of texts) session.notify(text);
  });

  const metrics = createMetrics({
    version,
    meters,
    sessions: () => sessions.size,
    subscriptions: () => subscriptions.size,
    backends: () => {
      const sizes = sizesOf(catalog.snapshot).servers;
      return servers.ids().flatMap((serverId) => {
        const status = servers.status(serverId);
        if (!status) return [];
        const { tokens: _tokens, ...entries } = sizes.get(serverId) ?? noSizes();
        return { serverId, entries, ...status };
      });
    },
  });
  let endpoint = "";
  const admin = createAdminApi({
    version,
    startedAt: Date.now(),
    endpoint: () => endpoint,
    configPath: () => options.configPath ?? null,
    exposure: () => config.tools.expose,
    ...{ catalog, servers, sessions, subscriptions, activity, logs, release },
    bodyBytes: () => config.limits.bodyBytes,
    handle: core.handle,
    actions: {
      reload: options.reload,
      restart: async (serverId) => servers.backend(serverId)?.restart(),
      setEnabled: async (serverId, enabled) => {
        const next = { ...config, servers: config.servers.map((s) => (s.id === serverId ? { ...s, enabled } : s)) };
        const diff = diffConfig(config, next);
        config = next;
        await servers.apply(diff);
      },
    },
  });

  const guard = createGuard(config.gateway);
  const front = createHttpFront({
    core,
    guard: () => guard,
    isReady: () => servers.settled,
    admin: admin.app,
    metrics,
  });
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
      endpoint = `http://${shown}:${address.port}/mcp`;
      return { url: endpoint, port: address.port };
    },
    stdio(streams) {
      void servers.start();
      stdioFront = serveStdio(core, streams);
      return stdioFront;
    },
    async close() {
      stdioFront?.close();
      admin.close();
      front.close();
      sessions.close();
      search.close();
      const closed = http && new Promise<void>((resolve) => http!.close(() => resolve()));
      http?.closeAllConnections();
      await Promise.all([closed, servers.close()]);
    },
  };
}

function snapshotSettings({ names, resources, lists, tools, metaTools }: Config): SnapshotSettings {
  return {
    maxNameLength: names.maxLength,
    uris: resources.uris,
    pageSize: lists.pageSize,
    local: metaDefinitions(metaTools.enabled),
    exposure: { mode: tools.expose, budgetTokens: tools.budgetTokens },
  };
}

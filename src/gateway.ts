/**
 * Wires the stages; the only file that knows them all. No protocol and no policy of its own.
 */

import type { Readable, Writable } from "node:stream";
import { createAdmin } from "./admin/admin.ts";
import { backendReadings } from "./admin/readings.ts";
import type { ReloadResult } from "./admin/schema.ts";
import { compose } from "./calls/compose.ts";
import { createDispatch } from "./calls/relay.ts";
import { createAudit } from "./calls/stages/audit.ts";
import { deadline } from "./calls/stages/deadline.ts";
import { InFlight } from "./calls/stages/in-flight.ts";
import { limits } from "./calls/stages/limits.ts";
import { CallMetrics } from "./calls/stages/metrics.ts";
import { output } from "./calls/stages/output.ts";
import { Catalog } from "./catalog/catalog.ts";
import { feedSearch } from "./catalog/search/feed.ts";
import { createSearchIndex } from "./catalog/search/index.ts";
import type { Snapshot } from "./catalog/snapshot.ts";
import { snapshotSettings } from "./catalog-settings.ts";
import { type ConfigDiff, diffConfig } from "./config/diff.ts";
import { ReloadHistory } from "./config/reload-history.ts";
import type { Config } from "./config/schema/config.ts";
import { logSecrets } from "./config/secrets.ts";
import { createCore } from "./core.ts";
import { createGuard, isLoopback } from "./front/http/guard.ts";
import { createHttpFront } from "./front/http/http.ts";
import { type HttpServer, listenHttp } from "./front/http/server.ts";
import { type StdioFront, serveStdio } from "./front/stdio.ts";
import { createLocalTools } from "./meta/registry.ts";
import { serverHealth } from "./servers/health.ts";
import { Servers } from "./servers/servers.ts";
import { announceChanges } from "./session/announce.ts";
import { Continuity, ephemeralSealer, type SessionState } from "./session/continuity.ts";
import { deliverLog, wantedLevel } from "./session/logs.ts";
import { SessionStore } from "./session/store.ts";
import { createSubscribing } from "./session/subscribing.ts";
import { Subscriptions } from "./session/subscriptions.ts";
import { Tasks } from "./session/tasks.ts";
import { lazy } from "./structures/lazy.ts";
import { Activity } from "./telemetry/activity.ts";
import { LimitMeter } from "./telemetry/limit-meter.ts";
import { type Logger, logBookOf } from "./telemetry/logger.ts";
import { Meters } from "./telemetry/meters.ts";
import type { MetricSources } from "./telemetry/metrics.ts";
import { version } from "./version.ts";

export interface GatewayOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Where the config came from; the API shows it. */
  readonly configPath?: string | undefined;
  /** Reads the config again; without it there is nothing to read. */
  readonly reload?: (() => Promise<ReloadResult>) | undefined;
  /** What makes sessions outlive the process; without it they end with it. */
  readonly state?: SessionState | undefined;
}

export interface Reloaded {
  readonly diff: ConfigDiff;
  /** The reading before this one had been refused. */
  readonly recovered: boolean;
  /**
   * Ends when the servers that changed have taken their places and new ones have connected or
   * failed.
   */
  readonly done: Promise<void>;
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
  /** Follows another config: only what changed is touched. */
  reload(config: Config): Reloaded;
  /**
   * Whoever reads the config tells why it cannot be followed: shown everywhere until a `reload`
   * succeeds.
   */
  reloadFailed(error: unknown): void;
  /** Log files that were moved away are opened anew. */
  reopenLogs(): void;
  /** With `drain`, calls under way may finish within `timeouts.drainMs`. */
  close(options?: { readonly drain?: boolean }): Promise<void>;
}

const serverInfo = { name: "goblin", title: "Goblin", version };

export function createGateway(options: GatewayOptions): Gateway {
  const { log } = options;
  // Replaced as a whole by `reload`; what reads it through a function sees the newest.
  let config = options.config;
  const catalog = new Catalog(snapshotSettings(config));
  const meters = new Meters();
  const limitMeter = new LimitMeter(log);
  const { onLimit } = limitMeter;
  const sessions = new SessionStore(config.limits, onLimit);
  const activity = new Activity();
  const counting = new CallMetrics({ meters, activity });
  const logs = logBookOf(log);
  logs.masker.hide(logSecrets(config));
  const servers: Servers = new Servers({
    config: () => config,
    catalog,
    log,
    onLimit,
    clientInfo: serverInfo,
    hooks: {
      log: (level, params, to) => deliverLog(sessions, { level, params, to }),
      updated: (serverId, uri, params, ownerKey) => subscriptions.updated(serverId, uri, params, ownerKey),
      task: (serverId, taskId, params) => tasks.statusChanged(serverId, taskId, params),
      restored: (serverId) => subscriptions.restored(serverId),
      ownedRestored: (serverId, ownerKey) => void subscriptions.ownedRestored(serverId, ownerKey),
      wantsOwned: (serverId, ownerKey) => subscriptions.has(serverId, ownerKey),
      removed: (serverId) => {
        subscriptions.dropServer(serverId);
        tasks.dropServer(serverId);
        admin.feed.serverChanged(serverId);
      },
      wantedLevel: () => wantedLevel(sessions),
      status: (serverId) => {
        admin.feed.serverChanged(serverId);
        if (servers.isUsable(serverId)) void subscriptions.ready(serverId);
      },
      synced: (serverId, ms) => meters.synced(serverId, ms),
    },
  });
  const subscriptions: Subscriptions = new Subscriptions({
    limitPerClient: () => config.limits.subscriptionsPerClient,
    onLimit,
    supports: (serverId) =>
      Boolean((servers.capability(serverId, "resources") as { subscribe?: boolean } | undefined)?.subscribe),
    isShared: (serverId) => servers.config(serverId)?.share !== "session",
    isReady: (serverId) => servers.isUsable(serverId),
    hasOwned: (serverId, clientKey) => servers.backend(serverId)?.hasOwned(clientKey) ?? false,
    upstream: ({ serverId, method, uri, call, ownerKey }) => {
      const params = JSON.stringify({ uri });
      if (call) return servers.forward(serverId, method, params, call);
      return servers.own(serverId, method, params, ownerKey === undefined ? undefined : sessions.get(ownerKey));
    },
    changed: () => admin.feed.listChanged("subscriptions"),
    added: (record) => continuity.subscribed(record.clientKey, record),
    removed: ({ clientKey, serverId, uri }) => continuity.unsubscribed(clientKey, serverId, uri),
  });
  const tasks = new Tasks({
    listener: (clientKey) => sessions.get(clientKey),
    prefixOf: (serverId) => catalog.snapshot.resources.prefixOf(serverId),
  });
  const continuity = new Continuity({
    sealer: options.state?.sealer ?? ephemeralSealer(),
    journal: options.state?.journal,
    idleMs: () => config.limits.sessionIdleMs,
    isOpen: (key) => sessions.get(key) !== undefined,
  });
  const audit = config.log.audit
    ? createAudit({
        file: config.log.audit,
        withArguments: () => config.log.auditArguments,
        failed: (message) => log.error({ error: message }, "The audit log cannot be written"),
      })
    : undefined;
  const inFlight = new InFlight();
  const reloads = new ReloadHistory();

  const run = compose(
    [
      inFlight.stage,
      counting.stage,
      ...(audit ? [audit.stage] : []),
      limits({ current: () => config.limits, onLimit }),
      deadline({
        limitMs: (serverId, toolMs) => toolMs ?? servers.config(serverId)?.timeoutMs ?? config.timeouts.callMs,
        maxMs: () => config.timeouts.maxCallMs,
      }),
      output({ taskStarted: (serverId, taskId, { client }) => tasks.started(serverId, taskId, client.key) }),
    ],
    (call, route) => servers.forward(route.serverId, call.method, route.params, call),
  );
  const subscribing = createSubscribing({ catalog, subscriptions, session: (key) => sessions.get(key) });
  const release = (clientKey: string): void => {
    subscriptions.dropClient(clientKey);
    tasks.dropClient(clientKey);
    servers.release(clientKey);
  };
  const search = feedSearch(catalog, createSearchIndex());
  const started = Date.now();
  const localTool = createLocalTools({
    snapshot: () => catalog.snapshot,
    search: search.find,
    servers: () => serverHealth(servers),
    gateway: () => ({
      version,
      uptimeMs: Date.now() - started,
      settled: servers.settled,
      configValid: !reloads.refusal,
    }),
    dispatch: (call) => core.handle(call),
  });
  const core = createCore({
    ...{ serverInfo, release, catalog, servers, sessions, continuity, subscribing },
    handle: counting.lists(
      createDispatch({
        catalog,
        run,
        own: counting.locals(subscribing.methods),
        extensionOwners: (method) => servers.extensionOwners(method),
        aside: (handle) => inFlight.track(handle),
        localTool: counting.localTool(localTool),
        refused: (call, answer) => {
          counting.refused(call, answer);
          audit?.refused(call, answer);
          log.debug({ method: call.method, requestId: call.requestId, code: answer.ok ? 0 : answer.code }, "refused");
        },
      }),
    ),
    maxCallMs: () => config.timeouts.maxCallMs,
    limits: () => config.limits,
    onLimit,
    sessionsChanged: () => admin.feed.listChanged("sessions"),
  });
  announceChanges(catalog, sessions);

  const metricSources: MetricSources = {
    version,
    meters,
    limits: limitMeter,
    reloads,
    sessions: () => sessions.size,
    subscriptions: () => subscriptions.size,
    backends: () => backendReadings(servers, catalog.snapshot),
  };
  const metrics = lazy(async () => (await import("./telemetry/metrics.ts")).createMetrics(metricSources));
  const admin = createAdmin({
    version,
    startedAt: Date.now(),
    endpoint: () => http?.url ?? "",
    configPath: () => options.configPath ?? null,
    refusal: () => reloads.refusal,
    exposure: () => config.tools.expose,
    ...{ catalog, servers, sessions, subscriptions, activity, logs, release },
    bodyBytes: () => config.limits.bodyBytes,
    onLimit,
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

  let guard = createGuard(config.gateway);
  const front = createHttpFront({
    core,
    guard: () => guard,
    isReady: () => servers.settled,
    admin: admin.fetch,
    metrics,
  });
  let http: HttpServer | undefined;
  let stdioFront: StdioFront | undefined;

  return {
    catalog,
    servers,
    fetch: front.fetch,
    snapshot: () => catalog.snapshot,
    start: () => servers.start(),
    async listen() {
      const { host, port, auth } = config.gateway;
      const failed = (error: Error): void => log.error({ error: error.message }, "HTTP server");
      const { headerBytes } = config.limits;
      const { receiveMs } = config.timeouts;
      http = await listenHttp({ serve: front.serve, host, port, headerBytes, receiveMs, onLimit, failed });
      if (!isLoopback(host) && auth.tokens.length === 0) {
        log.warn(`Listening on ${host} without gateway.auth: everybody who reaches this address can use all servers`);
      }
      // Not before: the servers' start is what users wait for.
      void servers.start().then(front.load);
      return { url: http.url, port: http.port };
    },
    stdio(streams) {
      void servers.start();
      stdioFront = serveStdio(core, streams);
      return stdioFront;
    },
    reload(next) {
      const diff = diffConfig(config, next);
      for (const key of diff.restartNeeded) log.warn({ key }, `${key} takes effect after a restart`);
      // The socket stays where it is, and so does whoever may reach it.
      const { host, port } = config.gateway;
      config = { ...next, gateway: { ...next.gateway, host, port } };
      guard = createGuard(config.gateway);
      logs.masker.hide(logSecrets(config));
      if (diff.settings.includes("log.level")) logs.setLevel(config.log.level);
      sessions.configure(config.limits);
      catalog.configure(snapshotSettings(config));
      const done = servers.apply(diff);
      const recovered = reloads.apply();
      if (recovered) admin.feed.configChanged();
      return { diff, recovered, done };
    },
    reloadFailed(error) {
      reloads.refuse(error, options.configPath ?? "config");
      admin.feed.configChanged();
    },
    reopenLogs: () => audit?.reopen(),
    async close({ drain = false } = {}) {
      http?.stopAccepting();
      if (drain) await inFlight.drain(config.timeouts.drainMs);
      await continuity.close();
      stdioFront?.close();
      admin.close();
      front.close();
      sessions.close();
      search.close();
      await Promise.all([http?.close(), servers.close(), audit?.close()]);
    },
  };
}

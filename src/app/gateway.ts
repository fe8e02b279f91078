/**
 * Builds a gateway from its parts, and starts, reloads and closes it.
 *
 * Invariant: this is the only file that knows all parts. It contains no protocol and no policy.
 */
import { createAdmin } from "../admin/api/admin.ts";
import { type Caller, callTool, type ToolCallInput } from "../admin/api/call-tool.ts";
import { MetricsPage } from "../admin/api/metrics-page.ts";
import { LiveConfig } from "../config/live-config.ts";
import { ReloadHistory } from "../config/reload-history.ts";
import type { Config } from "../config/schema/config.ts";
import { offersOf } from "../core/calls/offers.ts";
import { Relay } from "../core/calls/relay.ts";
import { createAudit } from "../core/calls/stages/audit.ts";
import { LoginLink } from "../core/calls/stages/login-link.ts";
import { LoginWait } from "../core/calls/stages/login-wait.ts";
import { CallMetrics } from "../core/calls/stages/metrics.ts";
import { Masking } from "../core/masking/masking.ts";
import { LocalTools, searches } from "../core/meta/registry.ts";
import { Directory } from "../core/routing/directory.ts";
import { SeenUris } from "../core/routing/seen-uris.ts";
import { createClientState } from "../core/session/client-state.ts";
import { ServerStates } from "../core/session/request-state.ts";
import type { FrontContext } from "../front/context.ts";
import { type Addresses, openAddresses } from "../front/http/addresses.ts";
import { LiveGuards } from "../front/http/guard.ts";
import { createHttpFront } from "../front/http/http.ts";
import { SoleClient } from "../front/sole-client.ts";
import { type StdioOptions, serveStdio } from "../front/stdio.ts";
import { version } from "../lib/package/version.ts";
import { createOtel } from "../observe/otel/otel.ts";
import { createRecorder } from "../observe/recording/recorder-settings.ts";
import { Activity } from "../observe/telemetry/activity.ts";
import { KeptCalls } from "../observe/telemetry/kept-calls.ts";
import { LimitMeter } from "../observe/telemetry/limit-meter.ts";
import { followLogSettings } from "../observe/telemetry/log-settings.ts";
import { logBookOf } from "../observe/telemetry/logger.ts";
import { Meters } from "../observe/telemetry/meters.ts";
import { feedSearch } from "../upstream/catalog/search/feed.ts";
import { createSearchIndex } from "../upstream/catalog/search/search-index.ts";
import type { Listed } from "../upstream/lock/lock.ts";
import { Health } from "../upstream/servers/health.ts";
import { Servers } from "../upstream/servers/servers.ts";
import { Waiting } from "../upstream/servers/waiting.ts";
import { createApprovals } from "./assembly/approvals.ts";
import { createCatalog } from "./assembly/catalog.ts";
import { createConnect, noteTokens } from "./assembly/connect.ts";
import { createLock } from "./assembly/lock.ts";
import { createResults } from "./assembly/results.ts";
import { sharedLimits } from "./assembly/shared-limits.ts";
import type { GatewayOptions } from "./gateway-options.ts";

export type Gateway = ReturnType<typeof createGateway>;

const serverInfo = { name: "goblin", title: "Goblin", version };

export function createGateway(options: GatewayOptions) {
  const { log, configPath, reload, preview, state, kept, logins, pairing, env, cluster } = options;
  const config = new LiveConfig(options.config);
  const reloads = new ReloadHistory();
  /** Where the gateway listens; empty: nowhere. */
  const address = { url: "" };
  /** The client of the only channel, while no other client can come. */
  let sole: SoleClient | undefined;
  /** Whether the gateway serves stdio alone, so that no operator can reach the API. */
  let isAlone = false;

  const logs = logBookOf(log);
  const { masker } = logs;
  followLogSettings(logs, config);
  logins?.on("secrets", (secrets) => masker.hide(secrets, "logins"));
  const meters = new Meters();
  const activity = new Activity();
  const keptCalls = new KeptCalls(() => config.current.calls);
  const limits = new LimitMeter(log);
  const { onLimit } = limits;
  // A function, because the recorder listens to the servers, and its index says what they offer.
  const recorder = createRecorder({ config, log, meters, env, offers: () => offersOf(catalog, servers) });
  const audit = createAudit({ config, meters, log });

  const catalog = createCatalog(config);
  const listedBy = (id: string): Listed | undefined => servers.roster.get(id)?.listed;
  const lock = createLock({ config, log, configPath, env, listedBy });
  const approvals = createApprovals({
    config,
    opened: options.approvals,
    audit,
    lock,
    address,
    isAlone: () => isAlone,
    onLimit,
    log,
  });
  const servers = new Servers({
    config,
    catalog,
    lock,
    kept,
    logins,
    recorder,
    env,
    clientInfo: serverInfo,
    subscribers: () => clients.subscriptions,
    sole: () => sole,
    onLimit,
    log,
  });
  const waiting = new Waiting({ config, catalog, servers, onLimit });
  const seen = new SeenUris();
  const clients = createClientState({ config, catalog, servers, waiting, seen, state, cluster, approvals, onLimit });
  const { access, sessions, continuity, subscriptions, resourceSubscriptions, tasks, heldTasks } = clients;

  const search = feedSearch(catalog, createSearchIndex(), searches);
  const results = createResults({ config, log, meters, env });
  const health = new Health(servers, reloads);
  const mask = (json: string): string => masker.definition(json);
  const localTools = new LocalTools({ catalog, servers, waiting, search, health, results, mask });
  const directory = new Directory(serverInfo, catalog, servers);
  const onToken = logins && noteTokens(logins, config);
  const guards = new LiveGuards(config, log, { mark: clients.mark, pairing, onToken });
  const connect = logins && createConnect(logins, { config, guards, pairing, address, access });

  const otel = createOtel({ config, log, masker, servers, sessions, env });
  const relay = new Relay({
    config,
    catalog,
    servers,
    waiting,
    seen,
    localTools,
    resourceSubscriptions,
    tasks,
    heldTasks,
    states: new ServerStates(continuity.keyFor("server states")),
    access,
    approvals,
    recorder,
    keptCalls,
    metrics: new CallMetrics({ meters, activity, keptCalls, tracing: otel?.tracing }),
    audit,
    tracing: otel?.tracing,
    results,
    masking: new Masking({ config, masker, meters }),
    masker,
    loginLink: connect && new LoginLink(connect, servers),
    loginWait: connect && new LoginWait(servers),
    onLimit,
    log,
  });
  cluster?.divide(sharedLimits(servers.roster, relay));

  const admin = createAdmin({
    config,
    configPath,
    reloads,
    reload,
    preview,
    address,
    access,
    catalog,
    servers,
    sessions,
    subscriptions,
    resourceSubscriptions,
    relay,
    directory,
    approvals,
    guards,
    cluster,
    pairing,
    connect,
    logins,
    activity,
    keptCalls,
    recorder,
    lock,
    logs,
    log,
    onLimit,
  });
  const metrics = new MetricsPage({ meters, limits, reloads, sessions, subscriptions, servers, catalog });
  const context: FrontContext = {
    config,
    relay,
    directory,
    access,
    sessions,
    continuity,
    subscriptions: resourceSubscriptions,
    tasks,
    heldTasks,
    onLimit,
  };
  const front = createHttpFront({ context, guards, servers, admin, metrics, connect, pairing, cluster, configPath });
  servers.roster.follow();
  let http: Addresses | undefined;
  let stdioFront: ReturnType<typeof serveStdio> | undefined;

  return {
    catalog,
    servers,
    activity,
    rows: admin.rows,
    /** Calls a tool on behalf of the program that embeds the gateway. */
    callTool: (input: ToolCallInput, caller: Caller) => callTool({ relay, servers }, input, caller),
    fetch(request: Request) {
      // From now on there are others besides the client of a channel.
      sole = undefined;
      return front.fetch(request);
    },
    snapshot: () => catalog.snapshot,
    cluster: () => cluster?.state(),
    /** Starts the servers. Resolves when each has connected or failed once. */
    start: () => servers.roster.start(),

    /** Starts the servers and listens on the configured address. */
    async listen() {
      sole = undefined;
      if (config.current.cluster.listen !== undefined && !cluster) log.warn("cluster.listen needs goblin serve");
      http = await openAddresses({ front, config: config.current, onLimit, log });
      address.url = http.url;
      void servers.roster.start();
      return { url: http.url, port: http.port, adminUrl: http.adminUrl, whenIdle: http.whenIdle };
    },

    /** Starts the servers and serves one client on these streams. */
    stdio(streams: StdioOptions) {
      // With other clients, a server's question could be meant for any of them.
      sole = http ? undefined : new SoleClient(sessions);
      if (!http) connect?.serveAlone();
      isAlone = !http;
      void servers.roster.start();
      stdioFront = serveStdio({ ...context, sole }, streams);
      return stdioFront;
    },

    /** `done` resolves when changed servers are replaced and new ones have connected or failed;
     * `recovered`: the last reload had failed. Touches only the differences. */
    reload(next: Config) {
      const diff = config.replace(next);
      for (const key of diff.restartNeeded) log.warn({ key }, `${key} takes effect after a restart`);
      return { diff, done: servers.roster.applied, recovered: reloads.apply() };
    },

    /** Records a config that could not be read or applied, until a `reload` succeeds. */
    reloadFailed: (error: unknown) => reloads.refuse(error, configPath ?? "config"),

    /** Reopens log files that were rotated. */
    reopenLogs: () => audit?.reopen(),

    /** With `drain`, calls in flight may finish within `timeouts.drainMs`. */
    async close({ drain = false }: { readonly drain?: boolean } = {}): Promise<void> {
      http?.stopAccepting();
      cluster?.leave();
      // With replicas, clients go on here until another one has their sessions.
      if (!cluster) front.refuse();
      const drainMs = drain ? config.current.timeouts.drainMs : undefined;
      await Promise.all([relay.drain(drainMs), cluster?.drain(drainMs ?? 0), cluster && front.left(drainMs ?? 0)]);
      front.refuse();
      stdioFront?.refuse();
      // Until its session was left to another replica, a client could still call.
      if (cluster) await relay.drain(drainMs);
      await continuity.close();
      admin.close();
      front.close();
      sessions.close();
      search.close();
      lock.close();
      await Promise.all([http?.close(), servers.roster.close(), logins?.close(), connect?.close()]);
      cluster?.close();
      await kept?.close();
      stdioFront?.close();
      // Last: calls that end with the servers are still audited.
      await Promise.all([audit?.close(), otel?.close(), recorder.stop(), results.close()]);
    },
  };
}

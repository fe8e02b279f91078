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
import { Masking } from "../core/masking/masking.ts";
import { LocalTools, searches } from "../core/meta/registry.ts";
import { Directory } from "../core/routing/directory.ts";
import { SeenUris } from "../core/routing/seen-uris.ts";
import { createClientState } from "../core/session/client-state.ts";
import { type Addresses, openAddresses } from "../front/http/addresses.ts";
import { LiveGuards } from "../front/http/guard.ts";
import { createHttpFront } from "../front/http/http.ts";
import { SoleClient } from "../front/sole-client.ts";
import { type StdioOptions, serveStdio } from "../front/stdio.ts";
import { version } from "../lib/package/version.ts";
import { feedSearch } from "../upstream/catalog/search/feed.ts";
import { createSearchIndex } from "../upstream/catalog/search/search-index.ts";
import { Health } from "../upstream/servers/health.ts";
import { Servers } from "../upstream/servers/servers.ts";
import { Waiting } from "../upstream/servers/waiting.ts";
import { createApprovals } from "./assembly/approvals.ts";
import { createCatalog } from "./assembly/catalog.ts";
import { createConnect } from "./assembly/connect.ts";
import { createRecords } from "./assembly/records.ts";
import { createRelay } from "./assembly/relay.ts";
import { createResults } from "./assembly/results.ts";
import { createWhole } from "./assembly/whole.ts";
import type { GatewayOptions } from "./gateway-options.ts";

export type Gateway = ReturnType<typeof createGateway>;

const serverInfo = { name: "goblin", title: "Goblin", version };

export function createGateway(options: GatewayOptions) {
  const { log, configPath, reload, preview, state, kept, logins, pairing, env, cluster, workers } = options;
  const config = new LiveConfig(options.config);
  const reloads = new ReloadHistory();
  const records = createRecords({ config, log, env, logins });
  const { logs, meters, activity, limits, recorder } = records;
  const base = { ...createCatalog({ config, log, configPath, env }), config, onLimit: limits.onLimit, log };
  const { catalog, lock, onLimit } = base;
  const servers = new Servers({ ...base, kept, logins, env, recorder, clientInfo: serverInfo });
  const core = { ...base, servers };
  const waiting = new Waiting(core);
  const seen = new SeenUris();
  const clients = createClientState({ ...core, waiting, seen, state, cluster });
  const { sessions, subscriptions, continuity } = clients;
  const search = feedSearch(catalog, createSearchIndex(), searches);
  const results = createResults({ config, log, meters, env });
  const health = new Health(servers, reloads);
  const mask = (json: string): string => logs.masker.definition(json);
  const localTools = new LocalTools({ catalog, servers, waiting, search, health, results, mask });
  const directory = new Directory(serverInfo, catalog, servers);
  const address = { url: "" };
  const guards = new LiveGuards(config, log, { mark: clients.mark, pairing });
  const connect = logins && createConnect(logins, { config, guards, pairing, address, access: clients.access });
  const approvals = createApprovals({ ...core, ...clients, address }, options.approvals);
  const masking = new Masking({ config, masker: logs.masker, meters });
  const stages = { masker: logs.masker, masking, loginLinks: connect, localTools, waiting, seen, results };
  const relay = createRelay({ ...core, ...clients, ...records, ...stages, approvals, cluster, env });
  const reloading = { configPath, reloads, reload, preview, wholeOf: workers?.wholeOf };
  const access = { guards, connect, logins, pairing, address, approvals };
  const admin = createAdmin({ ...core, ...clients, ...records, ...reloading, ...access, relay, directory, cluster });
  const metrics = new MetricsPage({ meters, limits, reloads, sessions, subscriptions, servers, catalog });
  const context = { ...core, ...clients, relay, directory, subscriptions: clients.resourceSubscriptions };
  const whole = workers && cluster ? createWhole({ admin, metrics, cluster, workers }) : { admin, metrics };
  const addressed = { connect, pairing, cluster, workers, configPath };
  const front = createHttpFront({ context, guards, servers, ...addressed, ...whole });
  let http: Addresses | undefined;
  let stdioFront: ReturnType<typeof serveStdio> | undefined;

  return {
    catalog,
    servers,
    activity,
    rows: admin.rows,
    /** Calls a tool on behalf of the program that embeds the gateway. */
    callTool: (input: ToolCallInput, caller: Caller) => callTool({ relay, servers }, input, caller),
    fetch: front.fetch,
    snapshot: () => catalog.snapshot,
    cluster: () => cluster?.state(),
    /** Starts the servers. Resolves when each has connected or failed once. */
    start: () => servers.roster.start(),

    /** Starts the servers and listens on the configured address. */
    async listen() {
      servers.sole = undefined;
      if (config.current.cluster.listen !== undefined && !cluster) log.warn("cluster.listen needs goblin serve");
      http = await openAddresses({ front, config: config.current, onLimit, log, isFirst: workers?.isFirst !== false });
      address.url = http.url;
      void servers.roster.start();
      return { url: http.url, port: http.port, adminUrl: http.adminUrl, whenIdle: http.whenIdle };
    },

    /** Starts the servers and serves one client on these streams. */
    stdio(streams: StdioOptions) {
      // With other clients, a server's question could be meant for any of them.
      const sole = http ? undefined : new SoleClient(sessions);
      servers.sole = sole;
      if (!http) connect?.serveAlone();
      approvals.isAlone = !http;
      void servers.roster.start();
      stdioFront = serveStdio({ ...context, sole }, streams);
      return stdioFront;
    },

    /** `done` resolves when changed servers are replaced and new ones have connected or failed;
     * `recovered`: the last reload had failed. Touches only the differences. */
    reload(next: Config) {
      const diff = config.replace(next);
      for (const key of diff.restartNeeded) log.warn({ key }, `${key} takes effect after a restart`);
      return { diff, done: servers.roster.apply(diff), recovered: reloads.apply() };
    },

    /** Records a config that could not be read or applied, until a `reload` succeeds. */
    reloadFailed: (error: unknown) => reloads.refuse(error, configPath ?? "config"),

    /** Reopens log files that were rotated. */
    reopenLogs: () => relay.reopenLogs(),

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
      await relay.close();
    },
  };
}

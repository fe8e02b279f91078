/**
 * What the fronts see of the gateway: the one entrance for requests, and whatever else a client's
 * connection needs to know or to tell.
 *
 * What must always hold: it keeps nothing of its own. Every answer is read from the part that owns
 * it when it is asked for, so a reload or a change of the catalog is seen by the very next request.
 */
import type { Catalog } from "./catalog/catalog.ts";
import { NO_HINTS } from "./catalog/definitions.ts";
import type { Core } from "./front/core.ts";
import type { LogLevel } from "./protocol/call.ts";
import { listMethods, lookUp } from "./protocol/methods.ts";
import { describeOutput, describeServers } from "./routing/describe.ts";
import type { Servers } from "./servers/servers.ts";
import type { Continuity } from "./session/continuity.ts";
import type { SessionStore } from "./session/store.ts";
import type { Subscribing } from "./session/subscribing.ts";

export interface CoreParts {
  readonly serverInfo: Core["serverInfo"];
  readonly handle: Core["handle"];
  readonly release: Core["release"];
  readonly catalog: Catalog;
  readonly servers: Servers;
  readonly sessions: SessionStore;
  readonly continuity: Continuity;
  readonly subscribing: Subscribing;
  readonly maxCallMs: Core["maxCallMs"];
  readonly limits: () => Core["limits"];
  readonly onLimit: Core["onLimit"];
  /** A session has begun or ended. */
  readonly sessionsChanged: () => void;
}

export function createCore(parts: CoreParts): Core {
  const { serverInfo, handle, release, catalog, servers, sessions, continuity, subscribing } = parts;
  return {
    handle,
    describe: (client) => ({
      serverInfo,
      ...describeServers(servers.infos(), { settled: servers.settled, client: client.capabilities }),
    }),
    opened: (session) => {
      parts.sessionsChanged();
      session.onEnd(() => {
        release(session.key);
        parts.sessionsChanged();
      });
    },
    logLevelChanged: (session) => servers.logLevelChanged(session),
    rootsChanged: (session) => servers.notifyOwned(session.key, "notifications/roots/list_changed"),
    serverInfo,
    cacheHints: (method) => {
      const list = lookUp(listMethods, method);
      return list ? catalog.snapshot.cacheHints(list.kind) : NO_HINTS;
    },
    inputSchema: (tool) => catalog.snapshot.tools.find(tool)?.definition.value["inputSchema"],
    outputOf: (tool) => describeOutput(catalog.snapshot.tools.find(tool), servers.infos()),
    routesExtension: (method) => servers.extensionOwners(method).length > 0,
    onChange: (listener) => {
      catalog.on("listed", listener);
      return () => catalog.off("listed", listener);
    },
    subscribe: (clientKey, uri, deliver) => subscribing.subscribe(clientKey, uri, deliver),
    release,
    sessions,
    continuity,
    resumed: (session) => {
      const { subscriptions: records = [], logLevel } = continuity.remembered(session.key) ?? {};
      if (logLevel !== undefined) session.logLevel = logLevel as LogLevel;
      for (const record of records) {
        if (servers.config(record.serverId)) void subscribing.resume(session.key, record);
        else continuity.unsubscribed(session.key, record.serverId, record.uri);
      }
    },
    maxCallMs: parts.maxCallMs,
    onLimit: parts.onLimit,
    get limits() {
      return parts.limits();
    },
  };
}

/**
 * Messages between servers and sessions outside of calls and subscriptions: log messages and their
 * level, changed roots, changed lists, notifications that the gateway does not know, and the end of
 * a session.
 *
 * A log message goes to the client whose call or connection it belongs to, or to the only client
 * that used the connection. If nobody used it, the message goes to the only client of the gateway.
 * If several clients are possible, nobody gets it: one client's messages must never reach another.
 */

import { BoundedMap } from "../../lib/structures/bounded-map.ts";
import { recordOf } from "../../lib/structures/record.ts";
import { Call, type Client } from "../../mcp/protocol/call.ts";
import { notificationText } from "../../mcp/protocol/json-rpc.ts";
import { logLevels, severity } from "../../mcp/protocol/log-levels.ts";
import { type ChangeKind, changeNotifications } from "../../mcp/protocol/methods.ts";
import { shownTo } from "../../mcp/protocol/principal.ts";
import type { Catalog } from "../../upstream/catalog/catalog.ts";
import type { ServerLogMessage, ServerNotification } from "../../upstream/servers/events.ts";
import type { Servers } from "../../upstream/servers/servers.ts";
import { notifiedServer } from "../routing/extension.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./store.ts";

const ROOTS_CHANGED = "notifications/roots/list_changed";

const LINK_DONE = "notifications/elicitation/complete";
/** Per server. */
const MAX_LINKS = 1000;
const MAX_ID = 1000;

export class ServerMessages {
  readonly #servers: Servers;
  readonly #sessions: SessionStore;
  /** The session that was given a link to open, by server, then by id. Oldest first. */
  readonly #links = new Map<string, Map<string, string>>();

  constructor(servers: Servers, sessions: SessionStore, catalog: Catalog) {
    this.#servers = servers;
    this.#sessions = sessions;
    servers.on("log", (message) => this.#deliverLog(message));
    servers.on("notified", (notification) => this.#deliverOther(notification));
    servers.on("linked", (serverId, elicitationId, client) => this.#remember(serverId, elicitationId, client));
    sessions.on("notified", (session, method, params) => {
      const serverId = notifiedServer(method, shownTo(session, servers.infos()));
      if (serverId !== undefined) servers.notify(serverId, session, { method, params });
    });
    sessions.on("initialized", (session) => servers.arrivals.welcome(session));
    sessions.on("logLevel", (session) => this.#setLevel(session));
    sessions.on("rootsChanged", ({ key }) => {
      servers.notifyOwned(key, ROOTS_CHANGED);
      if (servers.sole) servers.notifyShared(ROOTS_CHANGED);
    });
    sessions.on("ended", ({ key }) => {
      servers.release(key);
      this.#shareLevel();
    });
    sessions.on("opened", (session) => {
      session.onEnd(catalog.watch(session, (kinds) => announce(session, kinds)));
    });
  }

  #deliverLog({ serverId, level, params, to }: ServerLogMessage): void {
    if (to === "several") return;
    const text = notificationText("notifications/message", params);
    if (to === "none") {
      const only = this.#only;
      if (only?.initialized && sees(only, serverId) && wants(only, level)) only.notify(text);
    } else if (to instanceof Call) {
      if (wants(to.client, level)) to.emit(text);
    } else {
      const session = this.#sessions.get(to.party);
      if (session && sees(session, serverId) && wants(session, level)) session.notify(text);
    }
  }

  /** Passes on what the gateway does not know, if it is certain for whom it is. */
  #deliverOther({ serverId, method, params, to }: ServerNotification): void {
    const text = notificationText(method, params);
    if (method === LINK_DONE) return this.#linked(serverId, params)?.notify(text);
    if (to === "several") return;
    if (to instanceof Call) return to.emit(text);
    const session = to === "none" ? this.#only : this.#sessions.get(to.party);
    if (session?.initialized && sees(session, serverId)) session.notify(text);
  }

  /** The session that a message must be for, because there is no other. */
  get #only(): Session | undefined {
    const [only, ...others] = this.#sessions;
    return others.length === 0 ? only : undefined;
  }

  #remember(serverId: string, elicitationId: string, { key, hasSession }: Client): void {
    if (!hasSession || elicitationId.length > MAX_ID) return;
    const links = this.#links.get(serverId) ?? new BoundedMap<string, string>(MAX_LINKS);
    this.#links.set(serverId, links);
    links.delete(elicitationId);
    links.set(elicitationId, key);
  }

  /** Returns the session that was given this link. */
  #linked(serverId: string, params: string): Session | undefined {
    const { elicitationId } = recordOf(JSON.parse(params));
    const key = typeof elicitationId === "string" ? this.#links.get(serverId)?.get(elicitationId) : undefined;
    return key === undefined ? undefined : this.#sessions.get(key);
  }

  #setLevel(session: Session): void {
    this.#shareLevel();
    this.#servers.setOwnedLogLevel(session);
  }

  #shareLevel(): void {
    const level = this.#wantedLevel();
    if (level !== this.#servers.logLevel) this.#servers.setLogLevel(level);
  }

  /** Returns the most verbose level that any session asked for. */
  #wantedLevel(): string | undefined {
    let least: number | undefined;
    for (const { logLevel } of this.#sessions) {
      if (logLevel === undefined || logLevel === "off") continue;
      least = Math.min(least ?? logLevels.length, severity(logLevel));
    }
    return least === undefined ? undefined : logLevels[least];
  }
}

/**
 * Tells a session whose handshake is complete which lists changed. Clients without a session get
 * this on their own streams, which their front keeps.
 */
function announce(session: Session, kinds: readonly ChangeKind[]): void {
  if (!session.initialized) return;
  for (const kind of kinds) session.notify(notificationText(changeNotifications[kind]));
}

/** Nothing of a server that a client may not see reaches it outside of a call. */
function sees({ visibility }: Session, serverId: string): boolean {
  return visibility === undefined || visibility.showsServer(serverId);
}

function wants(client: Client, level: string): boolean {
  if (client.logLevel === "off") return false;
  return client.logLevel === undefined || severity(level) >= severity(client.logLevel);
}

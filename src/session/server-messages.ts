/**
 * Messages between servers and sessions outside of calls and subscriptions: log messages and their
 * level, changed roots, changed lists, and the end of a session.
 *
 * A log message goes to the client whose call or connection it belongs to, or to the only client
 * that used the connection. If nobody used it, the message goes to the only client of the gateway.
 * If several clients are possible, nobody gets it: one client's messages must never reach another.
 */
import type { Catalog } from "../catalog/catalog.ts";
import { Call, type Client } from "../protocol/call.ts";
import { notificationText } from "../protocol/json-rpc.ts";
import { logLevels, severity } from "../protocol/log-levels.ts";
import { type ChangeKind, changeNotifications } from "../protocol/methods.ts";
import type { ServerLogMessage } from "../servers/events.ts";
import type { Servers } from "../servers/servers.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./store.ts";

export class ServerMessages {
  readonly #servers: Servers;
  readonly #sessions: SessionStore;

  constructor(servers: Servers, sessions: SessionStore, catalog: Catalog) {
    this.#servers = servers;
    this.#sessions = sessions;
    servers.on("log", (message) => this.#deliverLog(message));
    sessions.on("logLevel", (session) => this.#setLevel(session));
    sessions.on("rootsChanged", ({ key }) => servers.notifyOwned(key, "notifications/roots/list_changed"));
    sessions.on("ended", ({ key }) => {
      servers.release(key);
      this.#shareLevel();
    });
    catalog.on("listed", (kinds) => this.#announce(kinds));
  }

  #deliverLog({ level, params, to }: ServerLogMessage): void {
    if (to === "several") return;
    const text = notificationText("notifications/message", params);
    if (to === "none") {
      const [only, ...others] = this.#sessions;
      if (only && others.length === 0 && only.initialized && wants(only, level)) only.notify(text);
    } else if (to instanceof Call) {
      if (wants(to.client, level)) to.emit(text);
    } else {
      const session = this.#sessions.get(to.party);
      if (session && wants(session, level)) session.notify(text);
    }
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

  /**
   * Tells every session whose handshake is complete which lists changed. Clients without a session
   * get this on their own streams, which their front keeps.
   */
  #announce(kinds: readonly ChangeKind[]): void {
    const texts = kinds.map((kind) => notificationText(changeNotifications[kind]));
    for (const session of this.#sessions) {
      if (session.initialized) for (const text of texts) session.notify(text);
    }
  }
}

function wants(client: Client, level: string): boolean {
  if (client.logLevel === "off") return false;
  return client.logLevel === undefined || severity(level) >= severity(client.logLevel);
}

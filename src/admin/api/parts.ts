/** The parts of a running gateway that the admin API reads and controls. */

import type { Access } from "../../auth/access/access.ts";
import type { Approvals } from "../../auth/approvals/approvals.ts";
import type { Logins } from "../../auth/login/logins.ts";
import type { Connect } from "../../auth/login-page/connect.ts";
import type { Pairing } from "../../auth/pairing/pairing.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import type { LiveConfig } from "../../config/live-config.ts";
import type { ReloadHistory } from "../../config/reload-history.ts";
import type { Config } from "../../config/schema/config.ts";
import type { Relay } from "../../core/calls/relay.ts";
import type { Directory } from "../../core/routing/directory.ts";
import type { ResourceSubscriptions } from "../../core/session/resource-subscriptions.ts";
import type { SessionStore } from "../../core/session/store.ts";
import type { Subscriptions } from "../../core/session/subscriptions.ts";
import type { LiveGuards } from "../../front/http/guard.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import type { OwnLogLevel } from "../../mcp/protocol/log-levels.ts";
import type { Recorder } from "../../observe/recording/recorder.ts";
import type { Activity } from "../../observe/telemetry/activity.ts";
import type { KeptCalls } from "../../observe/telemetry/kept-calls.ts";
import type { LogBook } from "../../observe/telemetry/log-book.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import type { Catalog } from "../../upstream/catalog/catalog.ts";
import type { Lock } from "../../upstream/lock/lock.ts";
import type { Servers } from "../../upstream/servers/servers.ts";
import type { ConfigChanges, ReloadResult } from "./schema.ts";

export interface AdminParts {
  readonly config: LiveConfig;
  readonly configPath: string | undefined;
  readonly reloads: ReloadHistory;
  /** Reads the config again; undefined if there is no config file. */
  readonly reload: (() => Promise<ReloadResult>) | undefined;
  /** Reads the config, and returns what a reload would change. */
  readonly preview: ((current: Config) => Promise<ConfigChanges>) | undefined;
  /** The endpoint for MCP clients; the URL is empty while nothing listens. */
  readonly address: { readonly url: string };
  readonly access: Pick<Access, "placeOf">;
  readonly catalog: Catalog;
  readonly servers: Servers;
  readonly sessions: SessionStore;
  readonly subscriptions: Subscriptions;
  readonly resourceSubscriptions: ResourceSubscriptions;
  readonly relay: Relay;
  readonly directory: Directory;
  readonly approvals: Approvals;
  /** Decides which event streams may stay open when the tokens change. */
  readonly guards: LiveGuards;
  /** The other replicas. */
  readonly cluster?: Pick<Cluster, "self" | "state" | "redis" | "others" | "ask"> | undefined;
  /** Lets clients in. Undefined: it cannot be turned on. */
  readonly pairing: Pick<Pairing, "issuer" | "grants" | "revoke" | "newCode"> | undefined;
  /** Where people log in to servers. Undefined: nowhere. */
  readonly connect: Pick<Connect, "link"> | undefined;
  /** The logins at servers. Undefined: there can be none. */
  readonly logins: Pick<Logins, "book" | "end"> | undefined;
  readonly activity: Activity;
  readonly keptCalls: KeptCalls;
  readonly recorder: Recorder;
  /** What was approved of each server. */
  readonly lock: Lock;
  readonly logs: LogBook;
  readonly log: Logger;
  readonly onLimit: OnLimit;
}

/** The level as the API names it: a log that is off shows nothing below fatal either. */
export function shownLevel(level: string): OwnLogLevel {
  return level === "silent" ? "fatal" : (level as OwnLogLevel);
}

/** What the admin API shows and drives: the parts of a running gateway, and the actions on it. */
import type { Catalog } from "../catalog/catalog.ts";
import type { ReloadFailure } from "../config/reload-history.ts";
import type { Call } from "../protocol/call.ts";
import type { Answer } from "../protocol/json-rpc.ts";
import type { OnLimit } from "../protocol/limit-exceeded.ts";
import type { Servers } from "../servers/servers.ts";
import type { SessionStore } from "../session/store.ts";
import type { Subscriptions } from "../session/subscriptions.ts";
import type { Activity } from "../telemetry/activity.ts";
import type { LogBook } from "../telemetry/log-book.ts";
import type { GatewayState, LogLevel, ReloadResult } from "./schema.ts";

export interface AdminSources {
  readonly version: string;
  readonly startedAt: number;
  /** The URL that MCP clients use. */
  readonly endpoint: () => string;
  readonly configPath: () => string | null;
  /** Why the config in use is not the one in the file. */
  readonly refusal: () => ReloadFailure | undefined;
  readonly exposure: () => GatewayState["exposure"];
  readonly catalog: Catalog;
  readonly servers: Servers;
  readonly sessions: SessionStore;
  readonly subscriptions: Subscriptions;
  readonly activity: Activity;
  readonly logs: LogBook;
  readonly bodyBytes: () => number;
  /** A limit has struck. */
  readonly onLimit: OnLimit;
  /** Answers a request of a client; never throws. */
  readonly handle: (call: Call) => Promise<Answer>;
  /** Frees whatever is held for this client. */
  readonly release: (clientKey: string) => void;
  readonly actions: AdminActions;
}

interface AdminActions {
  /** Undefined: there is no config file to read again. */
  readonly reload: (() => Promise<ReloadResult>) | undefined;
  readonly restart: (serverId: string) => Promise<void>;
  readonly setEnabled: (serverId: string, enabled: boolean) => Promise<void>;
}

/** The level as the API names it: a log that is off shows nothing below fatal either. */
export function shownLevel(level: string): LogLevel {
  return level === "silent" ? "fatal" : (level as LogLevel);
}

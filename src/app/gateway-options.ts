/** What a gateway is built from, besides its own parts. */
import type { ConfigChanges, ReloadResult } from "../admin/api/schema.ts";
import type { OpenedLedger } from "../auth/approvals/ledger.ts";
import type { Logins } from "../auth/login/logins.ts";
import type { Pairing } from "../auth/pairing/pairing.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Config } from "../config/schema/config.ts";
import type { SessionState } from "../core/session/continuity.ts";
import type { Logger } from "../observe/telemetry/logger.ts";
import type { KeptLists } from "../upstream/servers/lists/kept-lists.ts";

export interface GatewayOptions {
  readonly config: Config;
  readonly log: Logger;
  /** The path of the config file, shown by the API. */
  readonly configPath?: string | undefined;
  /** Reads the config again. */
  readonly reload?: (() => Promise<ReloadResult>) | undefined;
  /** Reads the config, and returns what a reload would change. */
  readonly preview?: ((current: Config) => Promise<ConfigChanges>) | undefined;
  /** Lets sessions outlive the process. */
  readonly state?: SessionState | undefined;
  /** The other gateways that serve the same clients. */
  readonly cluster?: Cluster | undefined;
  /** Lets approvals outlive the process. */
  readonly approvals?: OpenedLedger | undefined;
  /** Lets the servers' lists outlive the process. */
  readonly kept?: KeptLists | undefined;
  /** The logins at remote servers. Without them, no server gets one. */
  readonly logins?: Logins | undefined;
  /** The environment of the state folder, of OpenTelemetry and of programs that supply secrets. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Lets the clients of one person in. Without it, `gateway.auth.pairing` lets nobody in. */
  readonly pairing?: Pairing | undefined;
}

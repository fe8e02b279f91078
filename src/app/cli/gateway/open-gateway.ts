/**
 * Builds the gateway of `goblin serve` from its config, with all that outlives the process, and
 * follows its file.
 */
import { openApprovals } from "../../../auth/approvals/state.ts";
import { openLogins } from "../../../auth/login/book/open-logins.ts";
import { Pairing } from "../../../auth/pairing/pairing.ts";
import { clusterSecret, openCluster } from "../../../cluster/open.ts";
import type { Config } from "../../../config/schema/config.ts";
import { openState } from "../../../core/session/continuity.ts";
import type { Logger } from "../../../observe/telemetry/logger.ts";
import { openKeptLists } from "../../../upstream/servers/lists/kept-lists.ts";
import { createGateway, type Gateway } from "../../gateway.ts";
import type { ChosenConfig } from "../config.ts";
import { ConfigFollower } from "../config-follower.ts";

export interface OpenGatewayOptions extends Omit<ChosenConfig, "config"> {
  readonly config: Config;
  /** Applies the command line's options to the file's config. */
  readonly override: (config: Config) => Config;
  readonly log: Logger;
}

export interface OpenedGateway {
  readonly gateway: Gateway;
  readonly follower: ConfigFollower | undefined;
  /** Reopens the log files, and reads the config again. */
  readonly hangup: () => void;
}

export async function openGateway(options: OpenGatewayOptions): Promise<OpenedGateway> {
  const { config, file, found, override, log } = options;
  let running: Gateway | undefined;
  const follower = file && new ConfigFollower({ file, found, override, gateway: () => running!, log });
  const { host, port } = config.gateway;
  const endpoint = port === 0 ? undefined : `${host}:${port}`;
  const warn = (message: string): void => log.warn(message);
  const secret = clusterSecret(config, process.env);
  const cluster = await openCluster(config, { env: process.env, log });
  const gateway = createGateway({
    config,
    log,
    configPath: file?.path,
    reload: follower && (() => follower.reload()),
    preview: follower && ((current) => follower.preview(current)),
    state: await openState({ env: process.env, endpoint, warn, secret }),
    cluster,
    approvals: await openApprovals({ env: process.env, endpoint, warn }),
    kept: await openKeptLists(process.env, log),
    logins: await openLogins({ env: process.env, warn, books: cluster?.books }),
    pairing: new Pairing({ env: process.env, warn, books: cluster?.books }),
  });
  running = gateway;
  return {
    gateway,
    follower,
    hangup() {
      gateway.reopenLogs();
      follower?.reloadQuietly();
    },
  };
}

/**
 * `goblin stdio`: runs the gateway on stdin and stdout, for clients that start it themselves. It
 * ends when stdin does. The log goes to stderr.
 */
import { withServersOf } from "../../../auth/access/conditions.ts";
import { endpointFor } from "../../../auth/access/endpoints.ts";
import { openLogins } from "../../../auth/login/book/open-logins.ts";
import type { Config } from "../../../config/schema/config.ts";
import { createLogger } from "../../../observe/telemetry/logger.ts";
import { openKeptLists } from "../../../upstream/servers/lists/kept-lists.ts";
import { createGateway, type Gateway } from "../../gateway.ts";
import { type ChooseOptions, chooseConfig } from "../config.ts";
import { ConfigFollower } from "../config-follower.ts";
import { surviveUncaughtErrors } from "../crash-guard.ts";
import { exitSoon, listenToSignals } from "../signals.ts";
import { requireProfile, requireServer } from "../suggest.ts";
import { UsageError } from "../usage-error.ts";

export interface StdioCommandOptions extends ChooseOptions {
  readonly profile?: string | undefined;
  /** The only server, under its own names. */
  readonly server?: string | undefined;
  /** Only for a pipe. */
  readonly url?: string | undefined;
  readonly stopWhenIdle?: number | undefined;
}

export async function stdio(options: StdioCommandOptions): Promise<number> {
  if (options.url !== undefined || options.stopWhenIdle !== undefined) {
    throw new UsageError("--url and --stop-when-idle need --attach");
  }
  const { config: whole, file, found } = await chooseConfig(options);
  const { profile, server } = options;
  if (profile !== undefined && server !== undefined)
    throw new UsageError("--profile and --server: use only one of them");
  if (profile !== undefined) requireProfile(profile, Object.keys(whole.profiles));
  if (server !== undefined)
    requireServer(
      server,
      whole.servers.map(({ id }) => id),
    );
  // The client of this process can use no other servers.
  const narrowed = (next: Config): Config => {
    if (server !== undefined) return { ...next, servers: next.servers.filter(({ id }) => id === server) };
    return profile === undefined ? next : withServersOf(profile, next);
  };
  const config = narrowed(whole);
  const log = createLogger({ ...config.log, stream: process.stderr });
  surviveUncaughtErrors(log);
  const kept = await openKeptLists(process.env, log);
  const follower = file && new ConfigFollower({ file, found, override: narrowed, gateway: () => gateway, log });
  const signals = listenToSignals(() => {
    gateway.reopenLogs();
    follower?.reloadQuietly();
  });
  const logins = await openLogins({ env: process.env, warn: (message) => log.warn(message) });
  const gateway: Gateway = createGateway({ config, log, configPath: file?.path, kept, logins });
  const endpoint =
    server !== undefined ? endpointFor("s", server) : profile === undefined ? "" : endpointFor("p", profile);
  const front = gateway.stdio({ input: process.stdin, output: process.stdout, endpoint });
  await follower?.watch();
  await Promise.race([front.closed, signals.ended]);
  follower?.close();
  await gateway.close({ drain: true });
  exitSoon();
  return 0;
}

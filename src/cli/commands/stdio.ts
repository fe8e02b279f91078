/**
 * `goblin stdio`: runs the gateway on stdin and stdout, for clients that start it themselves. It
 * ends when stdin does. The log goes to stderr.
 */
import { createGateway, type Gateway } from "../../gateway.ts";
import { openLogins } from "../../login/logins.ts";
import { openKeptLists } from "../../servers/lists/kept-lists.ts";
import { createLogger } from "../../telemetry/logger.ts";
import { type ChooseOptions, chooseConfig } from "../config.ts";
import { ConfigFollower } from "../config-follower.ts";
import { surviveUncaughtErrors } from "../crash-guard.ts";
import { exitSoon, listenToSignals } from "../signals.ts";

export async function stdio(options: ChooseOptions): Promise<number> {
  const { config, file, found } = await chooseConfig(options);
  const log = createLogger({ ...config.log, stream: process.stderr });
  surviveUncaughtErrors(log);
  const kept = await openKeptLists(process.env, log);
  const follower = file && new ConfigFollower({ file, found, override: (next) => next, gateway: () => gateway, log });
  const signals = listenToSignals(() => {
    gateway.reopenLogs();
    follower?.reloadQuietly();
  });
  const logins = await openLogins({ env: process.env, warn: (message) => log.warn(message) });
  const gateway: Gateway = createGateway({ config, log, configPath: file?.path, kept, logins });
  const front = gateway.stdio({ input: process.stdin, output: process.stdout });
  await follower?.watch();
  await Promise.race([front.closed, signals.ended]);
  follower?.close();
  await gateway.close({ drain: true });
  exitSoon();
  return 0;
}

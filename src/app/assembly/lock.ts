/** Makes the lock: connects it with the config, its file and the scanner. */
import { dirname, join } from "node:path";
import type { LiveConfig } from "../../config/live-config.ts";
import { type ConfigWatch, watchConfig } from "../../config/watch.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import { type Listed, Lock } from "../../upstream/lock/lock.ts";
import { createScan } from "../../upstream/lock/scan/scan.ts";

export interface LockParts {
  readonly config: LiveConfig;
  readonly log: Logger;
  readonly configPath?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Returns the lists of a server that is ready. */
  readonly listedBy: (serverId: string) => Listed | undefined;
}

/** A large file is not read too often. */
const POLL_MS = 10_000;

/** While it is on, it follows its file. `close` ends that. */
export function createLock({ config, log, configPath, env, listedBy }: LockParts): Lock {
  const folder = configPath === undefined ? process.cwd() : dirname(configPath);
  const file = (): string => config.current.lock.file ?? join(folder, "goblin.lock");
  const lock = new Lock({ config, log, file, env, scan: createScan, listedBy });
  let followed: { readonly path: string; readonly watch: Promise<ConfigWatch> } | undefined;
  const follow = (): void => {
    const path = lock.isOn && !lock.isClosed ? lock.path : undefined;
    if (path === followed?.path) return;
    void followed?.watch.then((watch) => watch.close());
    const changed = (): void => void (lock.isOn ? lock.reload() : undefined);
    followed = path === undefined ? undefined : { path, watch: watchConfig(path, changed, { pollMs: POLL_MS }) };
  };
  config.on("changed", follow);
  lock.on("closed", follow);
  follow();
  return lock;
}

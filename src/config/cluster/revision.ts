/** A short code for what a config says, the same for all replicas that run on the same. */
import { createHash } from "node:crypto";
import type { Config } from "../schema/config.ts";

/** Too short to tell anything about a secret in the config. */
const LENGTH = 8;
const known = new WeakMap<Config, string>();

/** Addresses do not count: every replica has its own. */
export function revisionOf(config: Config): string {
  const before = known.get(config);
  if (before !== undefined) return before;
  const { cluster: _, gateway, ...rest } = config;
  const { host: _host, port: _port, ...access } = gateway;
  const revision = createHash("sha256")
    .update(JSON.stringify([rest, access]))
    .digest("hex")
    .slice(0, LENGTH);
  known.set(config, revision);
  return revision;
}

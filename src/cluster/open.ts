/** Opens the cluster that a config describes. */
import type { Config } from "../config/schema/config.ts";
import { GoblinError, messageOf } from "../mcp/protocol/errors.ts";
import type { Cluster, ClusterOptions } from "./cluster.ts";
import { clusterKey } from "./owners.ts";
import type { RedisStoreOptions } from "./redis/store.ts";

export interface OpenOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: ClusterOptions["log"];
}

type Sections = Pick<Config, "cluster" | "limits" | "timeouts">;

/** Returns the secret that replicas share. */
export function clusterSecret({ cluster }: Pick<Config, "cluster">, env: OpenOptions["env"]): string | undefined {
  return cluster.secret ?? (env["GOBLIN_SECRET"] || undefined);
}

/** Returns the keys that all replicas have, if they share what they know through Redis. */
export function sharedKeys(
  config: Pick<Config, "cluster">,
  env: OpenOptions["env"],
): ((purpose: string) => Buffer) | undefined {
  const { listen, redis } = config.cluster;
  const secret = listen === undefined || redis === undefined ? undefined : clusterSecret(config, env);
  return secret === undefined ? undefined : (purpose) => clusterKey(secret, purpose);
}

/** Returns undefined if this gateway has no address for other replicas. */
export async function openCluster(config: Sections, { env, log }: OpenOptions): Promise<Cluster | undefined> {
  const { listen, address, timeoutMs, redis } = config.cluster;
  if (listen === undefined) return undefined;
  const secret = clusterSecret(config, env);
  if (secret === undefined) {
    const why = "cluster.listen needs cluster.secret, or $GOBLIN_SECRET: replicas know each other by it";
    throw new GoblinError("INVALID_REQUEST", why);
  }
  const { headerBytes } = config.limits;
  const { receiveMs } = config.timeouts;
  try {
    const { Cluster } = await import("./cluster.ts");
    const storeFor = redis === undefined ? undefined : await redisStore({ url: redis, secret, timeoutMs, log });
    return await Cluster.open({ secret, listen, address, timeoutMs, headerBytes, receiveMs, log, storeFor });
  } catch (error) {
    throw new GoblinError("INVALID_REQUEST", `cluster.listen: cannot listen on ${listen} (${messageOf(error)})`);
  }
}

/** Loads the code for Redis, which most gateways never need. */
async function redisStore(options: Omit<RedisStoreOptions, "self" | "isOwn">): Promise<ClusterOptions["storeFor"]> {
  const { RedisStore } = await import("./redis/store.ts");
  return (self, isOwn) => new RedisStore({ ...options, self, isOwn });
}

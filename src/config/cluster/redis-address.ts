/**
 * The address of Redis in a config: one server, a set behind Sentinel, or a Redis Cluster.
 *
 * `redis://user:password@host:6379/0`, `redis+sentinel://user:password@host:26379,host/name/0` and
 * `redis+cluster://user:password@host:7000,host:7001`; `rediss` in each of them means TLS.
 */
export interface RedisAddress {
  readonly kind: "single" | "sentinel" | "cluster";
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly isSecure: boolean;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly database: number;
  /** The name of the set, for Sentinel. */
  readonly name?: string | undefined;
}

const address = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/?#\s]*)@)?([^@/?#\s]+)((?:\/[^/?#\s]*)*)$/;
const host = /^(\[[0-9a-f:.]+\]|[^\s:,[\]]+)(?::(\d{1,5}))?$/i;
const PORT = 6379;
const SENTINEL_PORT = 26_379;

/** @throws Error that says what was expected */
export function readRedisAddress(text: string): RedisAddress {
  const found = address.exec(text);
  if (!found) throw new Error("expected an address such as redis://redis.internal:6379");
  const [, scheme, kind = "single", credentials = "", list = "", path = ""] = found;
  const hosts = list.split(",").map((one) => {
    const [, name, port] = host.exec(one) ?? [];
    if (name === undefined) throw new Error(`expected host:port instead of "${one}"`);
    const fallback = kind === "sentinel" ? SENTINEL_PORT : PORT;
    return { host: name.replace(/^\[|\]$/g, ""), port: port === undefined ? fallback : Number(port) };
  });
  if (kind === "single" && hosts.length > 1)
    throw new Error("several hosts need redis+sentinel:// or redis+cluster:// in front of them");
  const parts = path.split("/").filter((part) => part !== "");
  const name = kind === "sentinel" ? parts.shift() : undefined;
  if (kind === "sentinel" && name === undefined)
    throw new Error("expected the name of the set, as in redis+sentinel://host:26379/mymaster");
  const [database = "0", ...rest] = parts;
  if (!/^\d{1,4}$/.test(database) || rest.length > 0)
    throw new Error(`expected a database number instead of "${path}"`);
  if (kind === "cluster" && database !== "0") throw new Error("a Redis Cluster has only database 0");
  const colon = credentials.indexOf(":");
  return {
    kind: kind as RedisAddress["kind"],
    hosts,
    isSecure: scheme === "rediss",
    username: decoded(colon < 0 ? credentials : credentials.slice(0, colon)),
    password: colon < 0 ? undefined : decoded(credentials.slice(colon + 1)),
    database: Number(database),
    name,
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text) || undefined;
  } catch {
    throw new Error("the user and the password must be percent-encoded");
  }
}

/**
 * Computes the difference between two configs, so that a running gateway can follow an edit without
 * a restart.
 *
 * Pure. Applying the difference to the old config gives the new one. A server is in at most one of
 * `added`, `changed`, `adjusted` and `removed`; an unchanged server is in none.
 */
import { isRecord } from "../lib/structures/record.ts";
import type { Config } from "./schema/config.ts";
import type { ServerConfig } from "./schema/server.ts";

export interface ConfigDiff {
  readonly added: readonly ServerConfig[];
  readonly removed: readonly string[];
  /** Servers that need a new connection. */
  readonly changed: readonly ServerConfig[];
  /** Servers that keep their connection: only names, policies or timeouts changed. */
  readonly adjusted: readonly ServerConfig[];
  /** The ids of all servers in their new order. */
  readonly order: readonly string[];
  /** Dotted keys outside the servers' entries that changed. */
  readonly settings: readonly string[];
  /** Those of `settings` that only a restart can apply. */
  readonly restartNeeded: readonly string[];
  /** The configs are equal. */
  readonly same: boolean;
}

const CONNECTION_KEYS = [
  "transport",
  "secretTexts",
  "enabled",
  "share",
  "era",
  "auth",
  "problems",
] as const satisfies readonly (keyof ServerConfig)[];

/** A listening socket and an open log keep their settings. */
const RESTART_KEYS: ReadonlySet<string> = new Set([
  "gateway.host",
  "gateway.port",
  "gateway.admin.host",
  "gateway.admin.port",
  "gateway.tls",
  "gateway.tls.cert",
  "gateway.tls.key",
  "log.format",
  "log.audit",
  "cluster.secret",
  "cluster.listen",
  "cluster.address",
  "cluster.redis",
  "cluster.timeoutMs",
  "otel.endpoint",
  "otel.sample",
  "otel.arguments",
]);

/**
 * Returns the next config with the old addresses and TLS files: listening sockets stay as they are
 * while the gateway runs, and access checks must match the address in use.
 */
export function keepAddresses(old: Config, next: Config): Config {
  const { host, port, tls, admin } = old.gateway;
  const own = { ...next.gateway.admin, host: admin.host, port: admin.port };
  return { ...next, gateway: { ...next.gateway, host, port, tls, admin: own } };
}

export function diffConfig(old: Config, next: Config): ConfigDiff {
  const before = new Map(old.servers.map((server) => [server.id, server]));
  const after = new Set(next.servers.map((server) => server.id));
  const added: ServerConfig[] = [];
  const changed: ServerConfig[] = [];
  const adjusted: ServerConfig[] = [];
  for (const server of next.servers) {
    const previous = before.get(server.id);
    if (previous === undefined) added.push(server);
    else if (CONNECTION_KEYS.some((key) => !isSame(previous[key], server[key]))) changed.push(server);
    else if (!isSame(previous, server)) adjusted.push(server);
  }
  const { servers: _old, ...oldSettings } = old;
  const { servers: _next, ...nextSettings } = next;
  const settings = changedKeys(oldSettings, nextSettings, "");
  return {
    added,
    removed: old.servers.map((server) => server.id).filter((id) => !after.has(id)),
    changed,
    adjusted,
    order: next.servers.map((server) => server.id),
    settings,
    restartNeeded: settings.filter((key) => RESTART_KEYS.has(key)),
    same: settings.length === 0 && isSame(old.servers, next.servers),
  };
}

function changedKeys(old: unknown, next: unknown, path: string): string[] {
  if (!isRecord(old) || !isRecord(next)) return isSame(old, next) ? [] : [path];
  const keys = new Set([...Object.keys(old), ...Object.keys(next)]);
  return [...keys].flatMap((key) => changedKeys(old[key], next[key], path === "" ? key : `${path}.${key}`));
}

/** Equal as JSON is: prototypes and the order of keys do not count. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [Object.entries(a), new Map<string, unknown>(Object.entries(b))];
  return left.length === right.size && left.every(([key, value]) => right.has(key) && isSame(value, right.get(key)));
}

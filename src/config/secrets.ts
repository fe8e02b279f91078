/**
 * The values in a config that nobody should see but whom they are for: tokens, environments,
 * headers, and the parts of a URL that may hold a key.
 */
import type { Config } from "./schema/config.ts";
import type { ServerTransport } from "./schema/server.ts";

/** A shorter value is an ordinary word, which would be blotted out everywhere. */
const LEAST_LENGTH = 6;

/**
 * What must not appear in a log. Arguments and paths are not among it: hiding those would make a
 * log useless.
 */
export function logSecrets({ servers, gateway }: Pick<Config, "servers" | "gateway">): string[] {
  const found = [
    ...gateway.auth.tokens,
    ...gateway.admin.tokens,
    ...servers.flatMap(({ transport }) => keysOf(transport)),
  ];
  return [...new Set(found)].filter((value) => value.length >= LEAST_LENGTH);
}

/**
 * What must not appear in an error of this server's connection: there, arguments and the whole
 * address go too.
 */
export function secretsOf(transport: ServerTransport): string[] {
  if (transport.kind === "stdio") {
    // A secret argument stands alone or behind "=", as in --token=…
    return [...keysOf(transport), ...transport.args.flatMap((arg) => [arg, arg.slice(arg.indexOf("=") + 1)])];
  }
  if (!URL.canParse(transport.url)) return [...keysOf(transport), transport.url];
  const { pathname, search } = new URL(transport.url);
  const parts = [pathname + search, search.slice(1), ...pathname.split("/")].filter((part) => part !== "/");
  return [...keysOf(transport), ...parts];
}

function keysOf(transport: ServerTransport): string[] {
  if (transport.kind === "stdio") return Object.values(transport.env);
  // `Bearer abc` is secret as a whole and without its first word.
  const headers = Object.values(transport.headers).flatMap((value) => [value, value.slice(value.indexOf(" ") + 1)]);
  if (!URL.canParse(transport.url)) return headers;
  const { username, password, searchParams } = new URL(transport.url);
  return [...headers, username, password, ...searchParams.values()];
}

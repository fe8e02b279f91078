/**
 * Which proxy carries the requests to a URL, by the variables that other programs also heed:
 * HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in capitals or not.
 *
 * Requests to this machine never go through a proxy. A proxy is an http:// or https:// address;
 * others (socks5://) are not used.
 */
import { isIP, isIPv4 } from "node:net";

type Environment = Readonly<Record<string, string | undefined>>;

export function proxyFor(url: URL, env: Environment = process.env): URL | undefined {
  const host = bareName(url.hostname);
  if (isThisMachine(host)) return undefined;
  const scheme = url.protocol.slice(0, -1);
  const named = variable(env, `${scheme}_proxy`) ?? variable(env, "all_proxy");
  if (named === undefined || isExcluded(host, portOf(url), variable(env, "no_proxy") ?? "")) return undefined;
  const written = named.includes("://") ? named : `http://${named}`;
  if (!URL.canParse(written)) return undefined;
  const proxy = new URL(written);
  return proxy.protocol === "http:" || proxy.protocol === "https:" ? proxy : undefined;
}

/** The header with the user name and password of the proxy's address, if it has one. */
export function proxyAuthorization({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

/** The lower-case form wins, as for other programs. */
function variable(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined;
}

/** Entries are names with all below them, addresses, and `*` for everything. */
function isExcluded(host: string, port: string, list: string): boolean {
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      const [, name = entry, onPort] = /^(.+?|\[.+\]):(\d+)$/.exec(isIP(entry) ? "" : entry) ?? [];
      if (onPort !== undefined && onPort !== port) return false;
      const bare = bareName(name.replace(/^\*?\./, ""));
      return host === bare || (!isIP(host) && host.endsWith(`.${bare}`));
    });
}

function isThisMachine(host: string): boolean {
  const address = host.replace(/^::ffff:/, "");
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || isLoopback4(address);
}

function isLoopback4(address: string): boolean {
  // The mapped form of an IPv6 address may be in hexadecimal: ::ffff:7f00:1.
  return (isIPv4(address) && address.startsWith("127.")) || /^7f[0-9a-f]{2}:[0-9a-f]{1,4}$/.test(address);
}

function bareName(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}

function portOf({ protocol, port }: URL): string {
  return port || (protocol === "https:" ? "443" : "80");
}

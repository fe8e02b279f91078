/**
 * Where a client may have the browser sent: https anywhere, plain http on the user's own machine,
 * or the scheme of an app.
 *
 * Invariant: a redirect URI is compared as text, character by character. Only the port of a
 * loopback address may differ, because a native app gets another one each time (RFC 8252).
 */
import { isLoopback } from "../../../lib/text/loopback.ts";

const MAX_LENGTH = 2000;
/** Schemes that a browser runs or reads itself, or that wrap another URL. */
const REFUSED_SCHEMES =
  "javascript livescript vbscript data file blob about ws wss ftp gopher view-source filesystem " +
  "jar wyciwyg feed pcap mhtml mk res resource urn cid chrome chrome-error chrome-native " +
  "chrome-search chrome-untrusted devtools edge brave opera vivaldi moz-icon moz-safe-about " +
  "moz-page-thumb page-icon intent android-app mailto tel sms nfs smb afp ldap ldaps shell " +
  "search-ms ms-msdt ms-appinstaller";
const NEVER: ReadonlySet<string> = new Set(REFUSED_SCHEMES.split(" ").map((scheme) => `${scheme}:`));

/** Returns what is wrong with a redirect URI; undefined: nothing. */
export function redirectProblem(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return "is too long";
  // URL would drop or repair these.
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes("\\")) return "has characters that a URI has not";
  if (!URL.canParse(text)) return "is not an absolute URI";
  const url = new URL(text);
  if (text.includes("#")) return "has a fragment";
  if (url.username + url.password !== "") return "has a user name or a password in it";
  if (url.protocol === "https:") return undefined;
  if (url.protocol === "http:") return isLoopback(url.hostname) ? undefined : "must be https, or on the user's machine";
  if (NEVER.has(url.protocol)) return `must not use ${url.protocol}`;
  return undefined;
}

/** A loopback address up to its port. What follows must be a path, a query or nothing. */
const LOOPBACK = /^(http:\/\/(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\]))(?::\d{1,5})?(?=[/?]|$)/;

export function isRegistered(registered: readonly string[], asked: string): boolean {
  if (registered.includes(asked)) return true;
  if (!LOOPBACK.test(asked)) return false;
  const anyPort = asked.replace(LOOPBACK, "$1");
  return registered.some((one) => LOOPBACK.test(one) && one.replace(LOOPBACK, "$1") === anyPort);
}

/** What a person should look at: the host, or the scheme of an app. */
export function redirectHost(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === "https:" || protocol === "http:" ? host : protocol;
}

/** The same as a source of a content security policy. */
export function redirectSource(uri: string): string {
  const { protocol, origin } = new URL(uri);
  return protocol === "https:" || protocol === "http:" ? origin : protocol;
}

/** Adds parameters to a redirect URI, and changes nothing else about it. */
export function withParameters(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) added.set(name, value);
  return `${uri}${uri.includes("?") ? "&" : "?"}${added}`;
}

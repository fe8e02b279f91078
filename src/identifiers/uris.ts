/**
 * The forms in which a backend's URI can be named: flat id, collapsed id, prefixed URI, prefixed
 * template.
 *
 * What must always hold: every form depends on the server id and the URI alone (plus, where forms
 * meet, on the set of those that meet), never on order or time; prefixed forms of different
 * (server, URI) pairs differ, and `unprefixed` undoes `prefixed`. Flat and collapsed ids lose
 * information: they are resolved by look-up, never by cutting strings.
 */
import { createHash } from "node:crypto";
import { encodeUnreserved } from "../uri-template/tokens.ts";
import { Claims } from "./claims.ts";

const URI_CHARACTERS = /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/;
const STRAY_PERCENT = /%(?![0-9A-Fa-f]{2})/;
const LONE_SURROGATE = /\p{Surrogate}/u;
const SCHEME_DELIMITER = /^([A-Za-z][A-Za-z0-9+.-]*):\/*/;
const PREFIXED = /^([a-z][a-z0-9.-]*)\+/;
const ANY_CASE_PREFIX = /^([a-z][a-z0-9.-]*)\+/i;
const CARRIER = "raw:";
const FLAT_SUFFIX = /~[0-9a-f]{8,64}$/;
const SURROGATE_OCTETS = /%ED%([AB][0-9A-F])%([89AB][0-9A-F])/gi;

/** Is it a URI by RFC 3986's alphabet, with a scheme? */
export function isUri(text: string): boolean {
  return URI_CHARACTERS.test(text) && !STRAY_PERCENT.test(text);
}

/** MCP Apps' URIs: hosts compare them to the ones in tool definitions, so they keep their form. */
export function isAppUri(uri: string): boolean {
  return uri.startsWith("ui://");
}

/** `file:///logs/app.log` of `filesystem` is `filesystem_file___logs_app.log`. */
export function flatId(serverId: string, uri: string): string {
  return `${serverId}_${flatBody(uri)}`;
}

/** A flat id without its server. */
export function flatBody(uri: string): string {
  const delimiter = SCHEME_DELIMITER.exec(uri);
  if (delimiter === null) return safeRuns(uri);
  return `${safeRuns(delimiter[1] ?? "")}___${safeRuns(uri.slice(delimiter[0].length))}`;
}

function safeRuns(text: string): string {
  return text.replace(/[^A-Za-z0-9.~-]+/g, "_");
}

/** The older id in which the scheme delimiter is collapsed too: `filesystem_file_logs_app.log`. */
export function collapsedId(serverId: string, uri: string): string {
  return `${serverId}_${collapsedBody(uri)}`;
}

export function collapsedBody(uri: string): string {
  return uri.replace(/[^a-zA-Z0-9._~-]/g, "_").replace(/_{2,}/g, "_");
}

/**
 * Makes names unique: where several contenders share one, each gets a suffix of hex digits of its
 * own digest, 8 of them and more if that still meets another name. What is `marked` always gets
 * one, and contends for nothing else. The result for a contender does not depend on the order.
 */
export function uniqueNames(
  bare: readonly string[],
  suffix: {
    readonly separator: string;
    readonly digestOf: (index: number) => string;
    readonly marked?: ((index: number) => boolean) | undefined;
  },
): string[] {
  const { marked } = suffix;
  const shared = duplicates(marked ? bare.filter((_, index) => !marked(index)) : bare);
  if (shared.size === 0 && !marked) return [...bare];
  const names = [...bare];
  const contenders = bare.flatMap((name, index) => (marked?.(index) || shared.has(name) ? [index] : []));
  let open = contenders;
  for (let digits = 8; open.length > 0 && digits <= 64; digits += 8) {
    for (const index of open) names[index] = bare[index] + suffix.separator + suffix.digestOf(index).slice(0, digits);
    const met = duplicates(names);
    open = contenders.filter((index) => met.has(names[index] ?? ""));
  }
  return names;
}

/** The names that occur more than once. */
export function duplicates(names: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) twice.add(name);
    else seen.add(name);
  }
  return twice;
}

function sha256(text: string): string {
  // UTF-8 would turn every lone surrogate into the same character, and different texts into the
  // same digest.
  const exact = LONE_SURROGATE.test(text) ? encodeUnreserved(text) : text;
  return createHash("sha256").update(exact).digest("hex");
}

/** The claims of all configured servers on flat ids. */
export function flatClaims(serverIds: Iterable<string>): Claims {
  return new Claims(
    [...serverIds].map((serverId) => ({ serverId, prefix: `${serverId}_` })),
    FLAT_SUFFIX,
  );
}

/**
 * Flat ids of entries, with `~` and hex digits of sha256(server id LF URI) where several share one,
 * and where another server's id could claim it.
 */
export function uniqueFlatIds(
  entries: readonly { readonly serverId: string; readonly uri: string }[],
  bare: readonly string[],
  claims: Claims,
): string[] {
  const isMarked = (index: number): boolean => claims.needsSuffix(entries[index]!.serverId, bare[index]!);
  return uniqueNames(bare, {
    separator: "~",
    digestOf: (index) => sha256(`${entries[index]?.serverId}\n${entries[index]?.uri}`),
    marked: bare.some((_, index) => isMarked(index)) ? isMarked : undefined,
  });
}

/**
 * A URI scheme for each server: its id in lower case, `-` for what a scheme may not hold, unique.
 */
export function assignPrefixes(serverIds: Iterable<string>): Map<string, string> {
  const ids = [...new Set(serverIds)];
  const names = uniqueNames(ids.map(schemeOf), { separator: "-", digestOf: (index) => sha256(ids[index] ?? "") });
  return new Map(ids.map((id, index) => [id, names[index] ?? ""]));
}

function schemeOf(serverId: string): string {
  const scheme = serverId.toLowerCase().replace(/[^a-z0-9.-]/g, "-");
  return /^[a-z]/.test(scheme) ? scheme : `s-${scheme}`;
}

/**
 * `filesystem+file:///logs/app.log`; what is no URI travels percent-encoded as `filesystem+raw:…`.
 */
export function prefixed(prefix: string, uri: string): string {
  // A URI of the scheme `raw` is carried as well, or it would read as a carrier.
  if (isUri(uri) && !uri.toLowerCase().startsWith(CARRIER)) return `${prefix}+${uri}`;
  return `${prefix}+${CARRIER}${encodeUnreserved(uri)}`;
}

/** What a prefixed URI says: the prefix and the backend's own URI. */
export function unprefixed(text: string): { prefix: string; uri: string } | undefined {
  const split = splitPrefix(text);
  if (split === undefined) return undefined;
  const { prefix, rest } = split;
  return { prefix, uri: rest.startsWith(CARRIER) ? decodeCarried(rest.slice(CARRIER.length)) : rest };
}

/**
 * The template whose expansions begin with the server's prefix. A template that names no scheme of
 * its own follows the carrier's head as it is, because a client encodes the values and only the
 * values.
 */
export function prefixedTemplate(prefix: string, template: string): string {
  return templateHead(prefix, template) + template;
}

/**
 * What stands before the backend's own template in its prefixed form, and before each of its
 * expansions.
 */
function templateHead(prefix: string, template: string): string {
  const scheme = SCHEME_DELIMITER.exec(template)?.[1];
  return scheme === undefined || scheme.toLowerCase() === "raw" ? `${prefix}+${CARRIER}` : `${prefix}+`;
}

/**
 * What an expansion of a prefixed template (or the template itself) may have been before the
 * prefix, likeliest first.
 */
export function unprefixedExpansions(text: string): { prefix: string; uris: string[] } | undefined {
  const split = splitPrefix(text);
  if (split === undefined) return undefined;
  const { prefix, rest } = split;
  if (!rest.startsWith(CARRIER)) return { prefix, uris: [rest] };
  const verbatim = rest.slice(CARRIER.length);
  const decoded = decodeCarried(verbatim);
  return { prefix, uris: verbatim === decoded ? [verbatim] : [verbatim, decoded] };
}

/** The scheme-like text before the first plus sign, in lower case as schemes are compared. */
export function uriPrefixOf(text: string): string | undefined {
  return ANY_CASE_PREFIX.exec(text)?.[1]?.toLowerCase();
}

function splitPrefix(text: string): { prefix: string; rest: string } | undefined {
  const head = PREFIXED.exec(text);
  return head === null ? undefined : { prefix: head[1] ?? "", rest: text.slice(head[0].length) };
}

function decodeCarried(text: string): string {
  try {
    // Lone surrogates are no UTF-8; each is decoded by itself, between stretches that are.
    let decoded = "";
    let at = 0;
    for (const match of text.matchAll(SURROGATE_OCTETS)) {
      const unit =
        0xd000 | ((Number.parseInt(match[1] ?? "", 16) & 63) << 6) | (Number.parseInt(match[2] ?? "", 16) & 63);
      decoded += decodeURIComponent(text.slice(at, match.index)) + String.fromCharCode(unit);
      at = match.index + match[0].length;
    }
    return decoded + decodeURIComponent(text.slice(at));
  } catch {
    return text;
  }
}

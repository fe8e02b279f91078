/**
 * The forms of a server's URI that clients can use: flat id, collapsed id, prefixed URI, prefixed
 * template.
 *
 * Invariants: a form depends only on the server id and the URI, and on the set of colliding forms;
 * never on order or time. Prefixed forms of different (server, URI) pairs differ, and `unprefixed`
 * undoes `prefixed`. Flat and collapsed ids lose information: they are resolved by look-up, never
 * by splitting strings.
 */
import { createHash } from "node:crypto";
import { each, finish, mapped, type Sliced } from "../../lib/timing/slices.ts";
import { encodeUnreserved } from "../../lib/uri-template/tokens.ts";
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

/** Returns whether the text has a scheme and only characters that RFC 3986 allows. */
export function isUri(text: string): boolean {
  return URI_CHARACTERS.test(text) && !STRAY_PERCENT.test(text);
}

/** MCP Apps' URIs keep their form, because hosts compare them with those in tool definitions. */
export function isAppUri(uri: string): boolean {
  return uri.startsWith("ui://");
}

const WEB_URI = /^https?:/i;

/** A URI that a browser opens as it is. */
export function isWebUri(uri: string): boolean {
  return WEB_URI.test(uri);
}

/** `file:///logs/app.log` of `filesystem` becomes `filesystem_file___logs_app.log`. */
export function flatId(serverId: string, uri: string): string {
  return `${serverId}_${flatBody(uri)}`;
}

/** Returns a flat id without its server. */
export function flatBody(uri: string): string {
  const delimiter = SCHEME_DELIMITER.exec(uri);
  if (delimiter === null) return safeRuns(uri);
  return `${safeRuns(delimiter[1] ?? "")}___${safeRuns(uri.slice(delimiter[0].length))}`;
}

function safeRuns(text: string): string {
  return text.replace(/[^A-Za-z0-9.~-]+/g, "_");
}

/**
 * Returns the older id, which also collapses the scheme delimiter: `filesystem_file_logs_app.log`.
 */
export function collapsedId(serverId: string, uri: string): string {
  return `${serverId}_${collapsedBody(uri)}`;
}

export function collapsedBody(uri: string): string {
  return uri.replace(/[^a-zA-Z0-9._~-]/g, "_").replace(/_{2,}/g, "_");
}

/**
 * Makes names unique. Colliding names each get a suffix from their own digest: 8 hex digits, or
 * more if they still collide. A `marked` name always gets a suffix, so its bare form collides with
 * nothing. Results do not depend on the order.
 */
export function* uniqueNames(
  bare: readonly string[],
  suffix: {
    readonly separator: string;
    readonly digestOf: (index: number) => string;
    readonly marked?: ((index: number) => boolean) | undefined;
  },
): Sliced<string[]> {
  const { marked } = suffix;
  const shared = yield* duplicates(marked ? bare.filter((_, index) => !marked(index)) : bare);
  if (shared.size === 0 && !marked) return [...bare];
  const names = [...bare];
  const contenders = bare.flatMap((name, index) => (marked?.(index) || shared.has(name) ? [index] : []));
  let open = contenders;
  for (let digits = 8; open.length > 0 && digits <= 64; digits += 8) {
    yield* each(
      open,
      (index) => {
        names[index] = bare[index] + suffix.separator + suffix.digestOf(index).slice(0, digits);
      },
      digestCost,
    );
    const met = yield* duplicates(names);
    open = contenders.filter((index) => met.has(names[index] ?? ""));
  }
  return names;
}

/** Returns the names that occur more than once. */
export function* duplicates(names: readonly string[]): Sliced<Set<string>> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  yield* each(names, (name) => {
    if (seen.has(name)) twice.add(name);
    else seen.add(name);
  });
  return twice;
}

function digestCost(): number {
  return 5;
}

function sha256(text: string): string {
  // UTF-8 would encode every lone surrogate the same way, so different texts would share a digest.
  const exact = LONE_SURROGATE.test(text) ? encodeUnreserved(text) : text;
  return createHash("sha256").update(exact).digest("hex");
}

/** Creates the claims of all configured servers on flat ids. */
export function flatClaims(serverIds: Iterable<string>): Claims {
  return new Claims(
    [...serverIds].map((serverId) => ({ serverId, prefix: `${serverId}_` })),
    FLAT_SUFFIX,
  );
}

/**
 * Makes flat ids unique. Ids that collide, or that another server could claim, get `~` and hex
 * digits of sha256(server id LF URI).
 */
export function* uniqueFlatIds(
  entries: readonly { readonly serverId: string; readonly uri: string }[],
  bare: readonly string[],
  claims: Claims,
): Sliced<string[]> {
  const isMarked = (index: number): boolean => claims.needsSuffix(entries[index]!.serverId, bare[index]!);
  const marks = yield* mapped(bare, (_, index) => isMarked(index));
  return yield* uniqueNames(bare, {
    separator: "~",
    digestOf: (index) => sha256(`${entries[index]?.serverId}\n${entries[index]?.uri}`),
    marked: marks.includes(true) ? (index) => marks[index]! : undefined,
  });
}

/**
 * Assigns a unique URI scheme to each server: its id in lower case, with `-` for characters that a
 * scheme may not contain.
 */
export function assignPrefixes(serverIds: Iterable<string>): Map<string, string> {
  const ids = [...new Set(serverIds)];
  const names = finish(
    uniqueNames(ids.map(schemeOf), { separator: "-", digestOf: (index) => sha256(ids[index] ?? "") }),
  );
  return new Map(ids.map((id, index) => [id, names[index] ?? ""]));
}

function schemeOf(serverId: string): string {
  const scheme = serverId.toLowerCase().replace(/[^a-z0-9.-]/g, "-");
  return /^[a-z]/.test(scheme) ? scheme : `s-${scheme}`;
}

/**
 * Prefixes a URI: `filesystem+file:///logs/app.log`. A text that is not a URI is percent-encoded:
 * `filesystem+raw:…`.
 */
export function prefixed(prefix: string, uri: string): string {
  // A URI of the scheme `raw` is encoded as well, or it would read as an encoded text.
  if (isUri(uri) && !uri.toLowerCase().startsWith(CARRIER)) return `${prefix}+${uri}`;
  return `${prefix}+${CARRIER}${encodeUnreserved(uri)}`;
}

/**
 * Returns a URI as common clients write it again: the scheme in lower case, path segments resolved,
 * an empty password left out. A text that is not a URI stays unchanged.
 */
export function normalForm(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).href : uri;
}

/** A cheap test that rules out most URIs that are their own normal form. */
export function mayDiffer(uri: string): boolean {
  return /^[^:]*[A-Z]|\/\.|:@/.test(uri);
}

/** Splits a prefixed URI into the prefix and the server's own URI. */
export function unprefixed(text: string): { prefix: string; uri: string } | undefined {
  const split = splitPrefix(text);
  if (split === undefined) return undefined;
  const { prefix, rest } = split;
  return { prefix, uri: rest.startsWith(CARRIER) ? decodeCarried(rest.slice(CARRIER.length)) : rest };
}

/**
 * Returns the template whose expansions begin with the server's prefix. A template without a scheme
 * follows `raw:` unencoded, because clients encode only the values.
 */
export function prefixedTemplate(prefix: string, template: string): string {
  return templateHead(prefix, template) + template;
}

/** Returns the part in front of the server's template and of each of its expansions. */
function templateHead(prefix: string, template: string): string {
  const scheme = SCHEME_DELIMITER.exec(template)?.[1];
  return scheme === undefined || scheme.toLowerCase() === "raw" ? `${prefix}+${CARRIER}` : `${prefix}+`;
}

/** Returns the possible originals of a prefixed template or of its expansion, likeliest first. */
export function unprefixedExpansions(text: string): { prefix: string; uris: string[] } | undefined {
  const split = splitPrefix(text);
  if (split === undefined) return undefined;
  const { prefix, rest } = split;
  if (!rest.startsWith(CARRIER)) return { prefix, uris: [rest] };
  const verbatim = rest.slice(CARRIER.length);
  const decoded = decodeCarried(verbatim);
  return { prefix, uris: verbatim === decoded ? [verbatim] : [verbatim, decoded] };
}

/** Returns the scheme-like text before the first plus sign, in lower case like schemes. */
export function uriPrefixOf(text: string): string | undefined {
  return ANY_CASE_PREFIX.exec(text)?.[1]?.toLowerCase();
}

function splitPrefix(text: string): { prefix: string; rest: string } | undefined {
  const head = PREFIXED.exec(text);
  return head === null ? undefined : { prefix: head[1] ?? "", rest: text.slice(head[0].length) };
}

function decodeCarried(text: string): string {
  try {
    // Lone surrogates are not valid UTF-8, so each is decoded separately.
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

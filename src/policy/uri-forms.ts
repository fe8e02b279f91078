/**
 * Decides which URIs a pattern of the config means. Servers read one URI in different ways: they
 * decode it once or three times, resolve dots before or after that, or hand it to a URL parser. All
 * that these readers can make of a URI are its forms. A deny or an ask must match any form, an
 * allow must match all of them.
 *
 * Invariant: a URI with more forms than `MAX_FORMS` cannot be trusted. Every deny and ask matches
 * it, and no allow does.
 */
import { matchesGlob } from "../lib/text/glob.ts";

const MAX_FORMS = 64;
const HEAD = /^([a-z][a-z0-9+.-]*:)?(\/\/[^/?#]*)?/i;
/** URIs that every reader takes as they are written: most of them. */
const PLAIN =
  /^(?:file:\/\/(?=\/)|https?:\/\/(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*(?=\/)|(?!(?:file|https?|wss?|ftp):)[a-z][a-z0-9+.-]*:(?:\/\/)?)(?!\.|.*\/[./])[a-z0-9._~!$&'()*+,;=:@{}/-]*$/;

/** Schemes whose readers agree on where the host ends. */
const SPECIAL = /^(?:file|https?|wss?|ftp):/i;
const SCHEME = /^([a-z][a-z0-9+.-]*:)\/*/i;

const READERS: readonly ((uri: string) => string)[] = [
  decodedOnce,
  (uri) => resolved(uri, /[?#]/),
  // For a server that takes the whole text for a path.
  (uri) => resolved(uri),
  resolvedWithHost,
  asWebUrl,
  (uri) => upTo(uri, uri.indexOf("\0")),
];

/** The patterns of one list in the config, for URIs. */
export class UriPatterns {
  readonly #patterns: readonly string[];
  /** With what a deny looks past. */
  readonly #loose: readonly string[];

  constructor(patterns: readonly string[]) {
    this.#patterns = [...new Set(patterns.flatMap(patternForms))];
    this.#loose = [...new Set([...this.#patterns, ...this.#patterns.map(withoutDetails)])];
  }

  /** For a deny or an ask. */
  matchesAnyForm(uri: string): boolean {
    if (this.#patterns.length === 0) return false;
    const forms = uriForms(uri);
    return !forms || forms.some((form) => looseForms(form).some((loose) => matchesOne(this.#loose, loose)));
  }

  /** For an allow. */
  matchesEveryForm(uri: string): boolean {
    if (this.#patterns.length === 0) return false;
    if (this.#patterns.includes("*")) return true;
    return uriForms(uri)?.every((form) => matchesOne(this.#patterns, form)) ?? false;
  }
}

function matchesOne(patterns: readonly string[], form: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, form));
}

/** @returns undefined if there are too many */
export function uriForms(uri: string): readonly string[] | undefined {
  return PLAIN.test(uri) ? [uri] : closure(uri, READERS);
}

/** An escaped `*` or `?` in a pattern must not become a wildcard. */
function patternForms(pattern: string): readonly string[] {
  const keepEscapedWildcards = (text: string) => text.replace(/%(2a|3f)/gi, "\ue000$1");
  const forms = closure(keepEscapedWildcards(pattern), READERS) ?? [];
  return [pattern, ...forms.map((form) => form.replaceAll("\ue000", "%"))];
}

/** All texts that the readers make of a text, one after another in any order. */
function closure(text: string, readers: typeof READERS): readonly string[] | undefined {
  const forms = new Set([text]);
  // A set's iteration includes what is added to it meanwhile.
  for (const form of forms) {
    for (const read of readers) forms.add(read(form));
    if (forms.size > MAX_FORMS) return undefined;
  }
  return [...forms];
}

/** Decodes the escapes that are valid UTF-8, each for itself. */
function decodedOnce(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes.replace(/%[0-7][0-9a-f]/gi, (one) => decodeURIComponent(one));
    }
  });
}

/** Resolves dots and repeated slashes. `end`: what ends the path. */
function resolved(uri: string, end?: RegExp): string {
  const text = uri.replaceAll("\\", "/");
  const head = HEAD.exec(text)![0];
  const rest = text.slice(head.length);
  const path = upTo(rest, end ? rest.search(end) : -1);
  return head.toLowerCase() + withoutDots(path) + rest.slice(path.length);
}

/** For a server that takes all of `skill://open/../secret` after the slashes for a path. */
function resolvedWithHost(uri: string): string {
  const text = uri.replaceAll("\\", "/");
  const head = SPECIAL.test(text) ? undefined : /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0];
  return head === undefined ? uri : head.toLowerCase() + withoutDots(text.slice(head.length));
}

function withoutDots(path: string): string {
  const kept: string[] = [];
  const steps = path.split("/");
  for (const [i, step] of steps.entries()) {
    const isLast = i === steps.length - 1;
    if (step === "..") kept.pop();
    else if (step !== "." && step !== "") kept.push(step);
    if (isLast && kept.length > 0 && (step === "" || step === "." || step === "..")) kept.push("");
  }
  return (path.startsWith("/") ? "/" : "") + kept.join("/");
}

/**
 * As a URL parser reads it: without tabs and line breaks, with one spelling of each host. Decoded,
 * because the parser also escapes what nobody wrote as an escape.
 */
function asWebUrl(uri: string): string {
  if (!URL.canParse(uri)) return uri;
  const { href } = new URL(uri);
  return href === `${uri}/` ? uri : decodedOnce(href);
}

/** What a deny looks past in addition: another resource of the same name is denied with it. */
function looseForms(form: string): readonly string[] {
  const bare = upTo(form, form.search(/[?#]/));
  const head = HEAD.exec(bare)![0].replace(/(?<=\/\/).*@/, "");
  const path = bare.slice(HEAD.exec(bare)![0].length).replace(/\/+$/, "");
  const loose = withoutDetails((head.replace(/\.(?=(?::\d*)?$)/, "") + path).normalize("NFKC"));
  return [form, bare, loose];
}

/**
 * Many file systems ignore case, dots and spaces at the end of a name, and what follows a colon in
 * it; many readers of files ignore the host. Servers with a scheme of their own often ignore how
 * many slashes follow it.
 */
function withoutDetails(uri: string): string {
  if (!/^file:/i.test(uri)) return SPECIAL.test(uri) ? uri : uri.replace(SCHEME, "$1//");
  const path = uri.toLowerCase().replace(/^file:(\/\/[^/]*)?/, "");
  // The first colon may be that of a drive.
  const names = path.replace(/(?<!^\/?[a-z]):[^/]*/g, "");
  return `file://${names.replace(/[. ]+(?=\/|$)/g, "")}`;
}

function upTo(text: string, end: number): string {
  return end === -1 ? text : text.slice(0, end);
}

/**
 * The surface of a server: everything of it that a model reads, with a digest for each part and one
 * for the whole, so that a rename is seen as well.
 *
 * Resources are data and come and go, and their URIs may be paths of this machine. So the lock has
 * a digest of each, and no text.
 */
import { createHash } from "node:crypto";
import { canonical } from "../../lib/json/canonical.ts";
import { memberText } from "../../lib/json/json-text.ts";
import { isRecord, recordOf } from "../../lib/structures/record.ts";
import { each, type Sliced, textCost } from "../../lib/timing/slices.ts";
import type { PeerInfo } from "../../mcp/peers/peer.ts";
import { type Definition, type ServerLists, stringOf } from "../catalog/definitions.ts";

export const surfaceKinds = ["tools", "prompts", "templates"] as const;
export type SurfaceKind = (typeof surfaceKinds)[number];

/** One tool, prompt or template. */
export interface LockedEntry {
  readonly digest: string;
  /** The digests of a tool's schemas. */
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  /** A tool's annotations, in words. */
  readonly hints?: string | undefined;
  readonly definition: Definition;
}

export type LockedEntries = Readonly<Record<SurfaceKind, ReadonlyMap<string, LockedEntry>>>;

export interface Surface extends LockedEntries {
  readonly digest: string;
  readonly instructions: LockedText | undefined;
  /** How the server describes itself, as JSON. Undefined in a file that was written without it. */
  readonly serverInfo?: LockedText | undefined;
  readonly resources: LockedList;
}

export interface LockedText {
  readonly digest: string;
  readonly text: string;
}

export interface LockedList {
  readonly count: number;
  /** Of all digests. */
  readonly digest: string;
  /** The digest of each element, sorted. Undefined in a file that was written without them. */
  readonly digests?: readonly string[] | undefined;
  /** The texts by their digests. A file does not have them. */
  readonly texts?: ReadonlyMap<string, string> | undefined;
}

/** What a server offers at one moment. */
export interface Offered {
  readonly lists: ServerLists;
  readonly instructions: string | undefined;
  readonly info?: Pick<PeerInfo, "serverInfo" | "capabilities"> | undefined;
}

/** `sha256:` and 64 digits. */
export function digestOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** The identifier of an entry: a template has no other than its URI template. */
export function identifierOf(kind: SurfaceKind, definition: Definition): string | undefined {
  return stringOf(definition, kind === "templates" ? "uriTemplate" : "name");
}

/**
 * `known`: entries whose digests need not be computed again if their text is the same. Of several
 * entries with one identifier, the first counts, as in the catalog.
 */
export function* surfaceOf({ lists, instructions, info }: Offered, known?: LockedEntries): Sliced<Surface> {
  const entries = {
    tools: yield* entriesOf(lists, "tools", known),
    prompts: yield* entriesOf(lists, "prompts", known),
  };
  const templates = yield* entriesOf(lists, "templates", known);
  const all = { ...entries, templates };
  const rest = {
    instructions: lockedText(instructions),
    serverInfo: lockedText(info && selfDescription(info)),
    resources: yield* listOf(lists.resources),
  };
  return { ...all, ...rest, digest: digestOfSurface({ ...all, ...rest }) };
}

function lockedText(text: string | undefined): LockedText | undefined {
  return text ? { digest: digestOf(text), text } : undefined;
}

/** What clients and people get of a server's description of itself, besides its instructions. */
export interface SelfDescription {
  readonly serverInfo: Readonly<Record<string, unknown>>;
  readonly experimental?: unknown;
  readonly extensions?: unknown;
}

/**
 * The description as canonical JSON. A plain version is left out: it changes with each release, and
 * the source has it.
 */
export function selfDescription({ serverInfo, capabilities }: Pick<PeerInfo, "serverInfo" | "capabilities">): string {
  const { version, ...named } = serverInfo;
  const shownInfo = isPlainVersion(version) ? named : serverInfo;
  const { experimental, extensions } = capabilities;
  return canonical(JSON.stringify({ serverInfo: shownInfo, experimental, extensions } satisfies SelfDescription));
}

const MAX_PLAIN_VERSION = 64;
/** Numbers, digests and the usual tags. Other words could make a sentence: `1-ignore-all-rules`. */
const PLAIN_VERSION =
  /^v?\d+(?:\.\d+){0,3}(?:[-+._](?:\d+|g?[\da-f]{7,40})|[-+._]?(?:alpha|beta|rc|dev|pre|post|preview|next|canary|nightly|snapshot|build|sha|a|b)\d*){0,6}$/i;

/** A version that is no sentence. */
export function isPlainVersion(version: unknown): boolean {
  if (version === undefined) return true;
  return typeof version === "string" && version.length <= MAX_PLAIN_VERSION && PLAIN_VERSION.test(version);
}

export function readSelfDescription(text: string): SelfDescription | undefined {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || !isRecord(value["serverInfo"])) return undefined;
  return { serverInfo: value["serverInfo"], experimental: value["experimental"], extensions: value["extensions"] };
}

function* entriesOf(
  lists: ServerLists,
  kind: SurfaceKind,
  known: LockedEntries | undefined,
): Sliced<ReadonlyMap<string, LockedEntry>> {
  const entries = new Map<string, LockedEntry>();
  const visit = (definition: Definition): void => {
    const name = identifierOf(kind, definition);
    if (name === undefined || entries.has(name)) return;
    const same = known?.[kind].get(name);
    entries.set(name, same?.definition.text === definition.text ? same : lockedEntry(kind, definition));
  };
  yield* each(lists[kind], visit, ({ text }) => 4 * textCost(text));
  return entries;
}

export function lockedEntry(kind: SurfaceKind, definition: Definition): LockedEntry {
  const digest = digestOf(canonical(definition.text));
  if (kind !== "tools") return { digest, definition };
  const member = (key: string): string | undefined => {
    const text = memberText(definition.text, key);
    return text === undefined ? undefined : digestOf(canonical(text));
  };
  return {
    digest,
    input: member("inputSchema"),
    output: member("outputSchema"),
    hints: hintsText(definition),
    definition,
  };
}

/** What each hint means where it is absent, and the words for both values. */
export const hintWords = [
  { key: "readOnlyHint", absent: false, words: { true: "read-only", false: "may write" } },
  { key: "destructiveHint", absent: true, words: { true: "may destroy", false: "only adds" } },
  { key: "idempotentHint", absent: false, words: { true: "idempotent", false: "not idempotent" } },
  { key: "openWorldHint", absent: true, words: { true: "open world", false: "closed world" } },
] as const;

/** The hints that a tool gives, in words. Undefined: none. */
function hintsText({ value }: Definition): string | undefined {
  const annotations = recordOf(value["annotations"]);
  const words = hintWords.flatMap(({ key, words: both }) => {
    const given = annotations[key];
    return typeof given === "boolean" ? [given ? both.true : both.false] : [];
  });
  return words.length > 0 ? words.join(", ") : undefined;
}

/**
 * The digest of the whole surface. It does not depend on the order of a server's lists, nor on
 * parts that a file was written without.
 */
export function digestOfSurface(surface: Omit<Surface, "digest">): string {
  const lines = surfaceKinds.flatMap((kind) =>
    [...surface[kind]].map(([name, { digest }]) => `${kind} ${JSON.stringify(name)} ${digest}`),
  );
  const { instructions, serverInfo, resources } = surface;
  if (instructions) lines.push(`instructions ${instructions.digest}`);
  if (serverInfo) lines.push(`serverInfo ${serverInfo.digest}`);
  if (resources.digests) lines.push(`resources ${resources.digest}`);
  return digestOf(lines.sort().join("\n"));
}

export function resourceDigest({ text }: Definition): string {
  return digestOf(canonical(text));
}

/** `digests` must be sorted. */
export function digestOfList(digests: readonly string[]): string {
  return digestOf(digests.join("\n"));
}

function* listOf(resources: readonly Definition[]): Sliced<LockedList> {
  const digests: string[] = [];
  const texts = new Map<string, string>();
  const visit = (resource: Definition): void => {
    const digest = resourceDigest(resource);
    digests.push(digest);
    texts.set(digest, resource.text);
  };
  yield* each(resources, visit, ({ text }) => 4 * textCost(text));
  digests.sort();
  return { count: resources.length, digest: digestOfList(digests), digests, texts };
}

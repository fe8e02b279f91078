/**
 * Puts the clients' form of URIs into a server's result, so that a client can read, subscribe to
 * and complete every URI it receives.
 *
 * Only the URI fields of content are changed: `contents[].uri`, `resource_link` and embedded
 * `resource`. Text, blobs, structured content and all other bytes stay unchanged. A result without
 * a `uri` member is not parsed. The number of URIs and the matching work per result are bounded;
 * URIs beyond that stay unchanged. A large result is searched in slices. The URI that a client
 * asked for comes back in the spelling of its request. A URI that is in no list is reported to
 * `unlisted`.
 */

import { JsonKey } from "../../lib/json/json-key.ts";
import { elementsInSlices, includesInSlices, membersInSlices } from "../../lib/json/json-slices.ts";
import { applyEdits, type Edit, elementSpans, memberSpan, type Span } from "../../lib/json/json-text.ts";
import { SLICE, type Sliced } from "../../lib/timing/slices.ts";
import { MAX_URI_LENGTH, MatchBudget, RESULT_CELLS } from "../../lib/uri-template/match-budget.ts";
import { isWebUri } from "../../mcp/identifiers/uris.ts";
import { type Raw, rawText } from "../../mcp/protocol/json-rpc.ts";
import type { ResourceIndex } from "../../upstream/catalog/resources/resource-index.ts";

const MAX_BLOCKS = 5000;
const URI = new JsonKey("uri");

export interface RewriteContext {
  readonly serverId: string;
  readonly resources: Pick<ResourceIndex, "expose" | "exposeUnlisted">;
  /** The server's URI that a read was for, and the client's spelling of it. */
  readonly asked?: { readonly own: string; readonly form: string } | undefined;
  readonly unlisted?: ((uri: string) => void) | undefined;
}

/** Whether a result may contain URIs. Most do not, and `exposeUris` need not look at them. */
export function mayNameUris(raw: Raw): boolean {
  // A key could be written with escapes. No known server does this, but then the text must be
  // parsed.
  return URI.isIn(raw) || raw.includes("\\u00");
}

/** Results above this size must be searched in slices. */
export const LARGE_RESULT = 1024 * 1024;

/** The member of a method's result that has blocks with URIs. */
const URI_LISTS: Readonly<Record<string, string>> = {
  "resources/read": "contents",
  "tools/call": "content",
  "prompts/get": "messages",
};

export function exposeUris(raw: Raw, method: string, context: RewriteContext): Raw {
  if (!(method in URI_LISTS) || !mayNameUris(raw)) return raw;
  const text = rawText(raw);
  const found: Found = { ...context, text, edits: [], budget: new MatchBudget(RESULT_CELLS) };
  const { edits } = found;
  for (const block of blocksOf(text, method)) collectEdits(block, found);
  return edits.length === 0 ? raw : applyEdits(text, edits);
}

/** Does the same as `exposeUris`, in slices. */
export function* exposeUrisInSlices(raw: Raw, method: string, context: RewriteContext): Sliced<Raw> {
  const key = URI_LISTS[method];
  if (key === undefined || !(yield* includesInSlices(raw, ['"uri"', "\\u00"]))) return raw;
  const text = rawText(raw);
  yield SLICE;
  const found: Found = { ...context, text, edits: [], budget: new MatchBudget(RESULT_CELLS) };
  const [list] = yield* membersInSlices(text, 0, [key]);
  if (!list) return raw;
  let blocks = yield* elementsInSlices(text, list.start, MAX_BLOCKS);
  if (method === "prompts/get") {
    const contents: Span[] = [];
    for (const message of blocks) {
      const [content] = yield* membersInSlices(text, message.start, ["content"]);
      if (content) contents.push(content);
    }
    blocks = [];
    for (const content of contents) {
      const most = MAX_BLOCKS - blocks.length;
      const own = text[content.start] === "[" ? yield* elementsInSlices(text, content.start, most) : [content];
      for (const block of own) blocks.push(block);
    }
  }
  for (const block of blocks) {
    const [own, resource, type] = yield* membersInSlices(text, block.start, ["uri", "resource", "type"]);
    const [embedded] = resource ? yield* membersInSlices(text, resource.start, ["uri"]) : [];
    collectFrom({ own, embedded, type }, found);
    yield 50;
  }
  return found.edits.length === 0 ? raw : applyEdits(text, found.edits);
}

interface Found extends RewriteContext {
  readonly text: string;
  readonly edits: Edit[];
  readonly budget: MatchBudget;
}

/** Returns the spans of the objects that may carry a URI. */
function blocksOf(text: string, method: string): Span[] {
  switch (method) {
    case "resources/read":
      return arrayMember(text, 0, "contents");
    case "tools/call":
      return arrayMember(text, 0, "content");
    case "prompts/get": {
      const blocks: Span[] = [];
      for (const message of arrayMember(text, 0, "messages")) {
        const content = memberSpan(text, message.start, "content");
        if (!content) continue;
        const most = MAX_BLOCKS - blocks.length;
        const own = text[content.start] === "[" ? elementSpans(text, content.start, most) : [content];
        for (const block of own) blocks.push(block);
      }
      return blocks;
    }
    default:
      return [];
  }
}

function arrayMember(text: string, pos: number, key: string): Span[] {
  const span = memberSpan(text, pos, key);
  return span ? elementSpans(text, span.start, MAX_BLOCKS) : [];
}

function collectEdits(block: Span, found: Found): void {
  const { text } = found;
  const resource = memberSpan(text, block.start, "resource");
  collectFrom(
    {
      own: memberSpan(text, block.start, "uri"),
      embedded: resource && memberSpan(text, resource.start, "uri"),
      type: memberSpan(text, block.start, "type"),
    },
    found,
  );
}

interface BlockSpans {
  readonly own: Span | undefined;
  readonly embedded: Span | undefined;
  readonly type: Span | undefined;
}

function collectFrom({ own, embedded, type }: BlockSpans, found: Found): void {
  const { text } = found;
  const isOf = (name: string): boolean => type !== undefined && text.slice(type.start, type.end) === name;
  // In content of another type, a URI that no list has may be anything.
  const known = { ...found, unlisted: undefined };
  if (own) collectEdit(own, found.asked || isOf('"resource_link"') ? found : known);
  if (embedded) collectEdit(embedded, isOf('"resource"') ? found : known);
}

function collectEdit(span: Span, { text, edits, ...context }: Found): void {
  if (text[span.start] !== '"') return;
  const uri = JSON.parse(text.slice(span.start, span.end)) as string;
  const exposed = exposedAs(uri, context);
  if (exposed !== uri) edits.push({ ...span, text: JSON.stringify(exposed) });
}

function exposedAs(uri: string, context: Omit<Found, "text" | "edits">): string {
  const { asked } = context;
  const exposed = exposedByList(uri, context);
  if (uri !== asked?.own) return exposed;
  if (exposed === uri && isWebUri(uri) && asked.form.endsWith(`+${uri}`)) return asked.form;
  // Another spelling of the same form; an id of another form becomes the listed one.
  const head = exposed.slice(0, exposed.indexOf("+") + 1);
  return head !== "" && asked.form.startsWith(head) ? asked.form : exposed;
}

function exposedByList(uri: string, context: Omit<Found, "text" | "edits">): string {
  const { serverId, resources, budget, unlisted } = context;
  const exposed = resources.expose(serverId, uri, budget);
  if (exposed !== undefined) return exposed;
  if (!unlisted || uri.length > MAX_URI_LENGTH) return uri;
  unlisted(uri);
  return resources.exposeUnlisted(serverId, uri);
}

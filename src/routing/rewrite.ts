/**
 * Puts the clients' form of URIs into a server's result, so that what a client reads in an answer
 * it can read, subscribe to and complete.
 *
 * Only the URI fields of content that carries one are touched: `contents[].uri`, `resource_link`
 * and embedded `resource`. Text, blobs, structured content and everything else stay the bytes that
 * came. A result without a `uri` member is not even parsed.
 */
import type { ResourceIndex } from "../catalog/resources/index.ts";
import { type Raw, rawText } from "../protocol/json-rpc.ts";
import { applyEdits, type Edit, elementSpans, memberSpan, type Span } from "../protocol/json-text.ts";

export interface RewriteContext {
  readonly serverId: string;
  readonly resources: Pick<ResourceIndex, "expose">;
}

export function exposeUris(raw: Raw, method: string, context: RewriteContext): Raw {
  // A key may be written with escapes; no server does, but then the text has to be looked at.
  if (!raw.includes('"uri"') && !raw.includes("\\u00")) return raw;
  const text = rawText(raw);
  const edits: Edit[] = [];
  for (const block of blocksOf(text, method)) collectEdits(text, block, context, edits);
  return edits.length === 0 ? raw : applyEdits(text, edits);
}

/** The places of the objects that may carry a URI. */
function blocksOf(text: string, method: string): Span[] {
  switch (method) {
    case "resources/read":
      return arrayMember(text, 0, "contents");
    case "tools/call":
      return arrayMember(text, 0, "content");
    case "prompts/get":
      return arrayMember(text, 0, "messages").flatMap((message) => {
        const content = memberSpan(text, message.start, "content");
        if (!content) return [];
        return text[content.start] === "[" ? elementSpans(text, content.start) : [content];
      });
    default:
      return [];
  }
}

function arrayMember(text: string, pos: number, key: string): Span[] {
  const span = memberSpan(text, pos, key);
  return span ? elementSpans(text, span.start) : [];
}

function collectEdits(text: string, block: Span, context: RewriteContext, edits: Edit[]): void {
  const own = memberSpan(text, block.start, "uri");
  if (own) collectEdit(text, own, context, edits);
  const resource = memberSpan(text, block.start, "resource");
  const embedded = resource && memberSpan(text, resource.start, "uri");
  if (embedded) collectEdit(text, embedded, context, edits);
}

function collectEdit(text: string, span: Span, { serverId, resources }: RewriteContext, edits: Edit[]): void {
  if (text[span.start] !== '"') return;
  const uri = JSON.parse(text.slice(span.start, span.end)) as string;
  const exposed = resources.expose(serverId, uri);
  if (exposed !== undefined && exposed !== uri) edits.push({ ...span, text: JSON.stringify(exposed) });
}

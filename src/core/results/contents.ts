/**
 * A kept result as the contents of a resource: each block as the server sent it, texts as text and
 * data as blobs, and then the structured content as JSON. Their strings are copied, not read.
 */
import { membersOf } from "../../lib/json/bytes/byte-values.ts";
import { escapeInSlices, joinInSlices } from "../../lib/json/bytes/json-bytes.ts";
import { OPEN_BRACE, QUOTE } from "../../lib/json/characters.ts";
import type { Span } from "../../lib/json/json-text.ts";
import type { Sliced } from "../../lib/timing/slices.ts";
import { type Block, isMedia, type ResultParts } from "./result-parts.ts";

const JSON_TYPE = '"application/json"';

export interface Contents {
  readonly uri: string;
  /** The type of the only text. */
  readonly mimeType: string;
}

/** Returns the result of `resources/read`. */
export function* contentsOf(parts: ResultParts, { uri, mimeType }: Contents): Sliced<Buffer> {
  const { bytes } = parts;
  const out: Buffer[] = [];
  const add = (head: string, ...rest: readonly Buffer[]): void => {
    out.push(Buffer.from(`${out.length === 0 ? "" : ","}${head}`), ...rest, CLOSE);
  };
  const named = (type: string): string => `{"uri":${JSON.stringify(uri)},"mimeType":${type}`;
  const asJson = function* (span: Span): Sliced<void> {
    add(`${named(JSON_TYPE)},"text":`, ...(yield* escapeInSlices(bytes.subarray(span.start, span.end))));
  };
  // Whatever it is made of, it is there.
  if (parts.hasMore) yield* asJson({ start: 0, end: bytes.length });
  else {
    const type = parts.blocks.length === 1 && !parts.structured ? mimeType : "text/plain";
    for (const block of parts.blocks) {
      const media = isMedia(block) ? yield* mediaOf(parts, block) : undefined;
      const own = block.type === "resource" ? yield* memberOf(parts, block, "resource") : undefined;
      if (block.text) add(`${named(JSON.stringify(type))},"text":`, bytes.subarray(block.text.start, block.text.end));
      else if (media) add(`${named(media.type)},"blob":`, media.data);
      // Without its closing brace, which is added.
      else if (own) add("", bytes.subarray(own.start, own.end - 1));
      else yield* asJson(block);
      yield 10;
    }
    if (parts.structured) yield* asJson(parts.structured);
  }
  return yield* joinInSlices([OPEN_LIST, ...out, CLOSE_LIST]);
}

const OPEN_LIST = Buffer.from('{"contents":[');
const CLOSE_LIST = Buffer.from("]}");
const CLOSE = Buffer.from("}");

function* mediaOf(
  parts: ResultParts,
  block: Block,
): Sliced<{ readonly type: string; readonly data: Buffer } | undefined> {
  const { bytes } = parts;
  const [type, data] = yield* membersOf(bytes, block.start, ["mimeType", "data"]);
  if (!data || bytes[data.start] !== QUOTE) return undefined;
  const isNamed = type !== undefined && bytes[type.start] === QUOTE;
  return {
    type: isNamed ? bytes.toString("utf8", type.start, type.end) : '"application/octet-stream"',
    data: bytes.subarray(data.start, data.end),
  };
}

function* memberOf({ bytes }: ResultParts, { start }: Block, key: string): Sliced<Span | undefined> {
  const [span] = yield* membersOf(bytes, start, [key]);
  return span && bytes[span.start] === OPEN_BRACE ? span : undefined;
}

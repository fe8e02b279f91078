/**
 * What a result says, in one piece: its structured content, or the JSON in its only text, or its
 * text. Previews and `read_result` look at this.
 */
import { jsonIn } from "../../lib/json/bytes/embedded-json.ts";
import { joinInSlices, unescapeInSlices } from "../../lib/json/bytes/json-bytes.ts";
import type { Sliced } from "../../lib/timing/slices.ts";
import type { ResultParts } from "./result-parts.ts";

export type ResultDocument =
  | { readonly kind: "json"; readonly bytes: Buffer; readonly start: number }
  | { readonly kind: "text"; readonly bytes: Buffer };

const LINE_BREAK = Buffer.from("\n");

export function* documentOf(parts: ResultParts): Sliced<ResultDocument> {
  const { bytes: whole, blocks, content, structured } = parts;
  if (structured) return { kind: "json", bytes: whole, start: structured.start };
  const texts: Buffer[] = [];
  for (const { text } of blocks) if (text) texts.push(yield* unescapeInSlices(whole, text));
  if (texts.length === 0) return { kind: "json", bytes: whole, start: content!.start };
  if (texts.length > 1) {
    const lines = texts.flatMap((text) => [text, LINE_BREAK]);
    return { kind: "text", bytes: yield* joinInSlices(lines) };
  }
  const bytes = texts[0]!;
  const start = yield* jsonIn(bytes);
  return start === -1 ? { kind: "text", bytes } : { kind: "json", bytes, start };
}

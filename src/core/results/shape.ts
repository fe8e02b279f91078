/**
 * Leaves fields out of a result, as its rules say. Shapes what is JSON: the structured content, and
 * each text that is JSON as a whole. Everything else keeps its bytes, and a result without such
 * fields stays as it is.
 */

import { skipLong } from "../../lib/json/bytes/byte-values.ts";
import { jsonIn } from "../../lib/json/bytes/embedded-json.ts";
import { escapeInSlices, joinInSlices, unescapeInSlices } from "../../lib/json/bytes/json-bytes.ts";
import { type Fields, fieldsOf, keepFields } from "../../lib/json/bytes/shape-json.ts";
import type { Span } from "../../lib/json/json-text.ts";
import type { Sliced } from "../../lib/timing/slices.ts";
import type { ResultRules } from "../../mcp/protocol/results/result-rules.ts";
import type { ResultParts } from "./result-parts.ts";

interface Edit extends Span {
  readonly parts: readonly Buffer[];
}

const fields = new WeakMap<ResultRules, Fields>();

function fieldsFor(rules: ResultRules): Fields {
  let known = fields.get(rules);
  if (!known) {
    known = fieldsOf(rules.pick, rules.drop);
    fields.set(rules, known);
  }
  return known;
}

/** Whether the rules may change a result of any length. */
export function shapesAll({ pick, drop }: ResultRules): boolean {
  return pick.length + drop.length > 0;
}

/** Returns the shaped result; undefined if it stays as it is. */
export function* shapeResult(parts: ResultParts, rules: ResultRules): Sliced<Buffer | undefined> {
  const { bytes, blocks, structured } = parts;
  const edits: Edit[] = [];
  const value = structured && (yield* shapedValue(bytes, structured.start, rules));
  if (structured && value) edits.push({ ...structured, parts: [value] });
  for (const block of blocks) {
    if (!block.text) continue;
    const text = yield* unescapeInSlices(bytes, block.text);
    const start = yield* jsonIn(text);
    const shaped = start === -1 ? undefined : yield* shapedValue(text, start, rules);
    if (shaped) edits.push({ ...block.text, parts: yield* escapeInSlices(shaped) });
  }
  return edits.length === 0 ? undefined : yield* applied(bytes, edits);
}

/** Returns undefined if the value stays as it is. */
function* shapedValue(bytes: Buffer, start: number, rules: ResultRules): Sliced<Buffer | undefined> {
  if (!shapesAll(rules)) return undefined;
  const end = yield* skipLong(bytes, start);
  const after = yield* keepFields(bytes, start, fieldsFor(rules));
  return after === undefined || after.length === end - start ? undefined : after;
}

function* applied(bytes: Buffer, edits: readonly Edit[]): Sliced<Buffer> {
  const out: Buffer[] = [];
  let from = 0;
  for (const { start, end, parts } of [...edits].sort((a, b) => a.start - b.start)) {
    out.push(bytes.subarray(from, start));
    for (const part of parts) out.push(part);
    from = end;
  }
  out.push(bytes.subarray(from));
  return yield* joinInSlices(out);
}

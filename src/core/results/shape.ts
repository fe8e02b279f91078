/**
 * Leaves fields, spaces and doubled text out of a result, as its rules say. What is JSON is
 * shaped: the structured content, and each text that is JSON as a whole. Everything else keeps its
 * bytes, and a result in which nothing is to be changed stays as it is.
 */

import { afterComma, membersOf, skipLong, skipSpaces, valueAfter } from "../../lib/json/bytes/byte-values.ts";
import { jsonIn } from "../../lib/json/bytes/embedded-json.ts";
import { byteKey, escapeInSlices, joinInSlices, unescapeInSlices } from "../../lib/json/bytes/json-bytes.ts";
import { type Fields, fieldsOf, keepFields, withoutSpaces } from "../../lib/json/bytes/shape-json.ts";
import { canonical } from "../../lib/json/canonical.ts";
import { CLOSE_BRACE, QUOTE } from "../../lib/json/characters.ts";
import type { Span } from "../../lib/json/json-text.ts";
import type { Sliced } from "../../lib/timing/slices.ts";
import type { ResultRules } from "../../mcp/protocol/results/result-rules.ts";
import type { Block, ResultParts } from "./result-parts.ts";

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
export function shapesAll({ pick, drop, compact, dedupe }: ResultRules): boolean {
  return compact || dedupe || pick.length + drop.length > 0;
}

/** Returns the shaped result; undefined if it stays as it is. */
export function* shapeResult(parts: ResultParts, rules: ResultRules): Sliced<Buffer | undefined> {
  const { bytes, blocks, structured } = parts;
  const edits: Edit[] = [];
  const value = structured && (yield* shapedValue(bytes, structured.start, rules));
  if (structured && value) edits.push({ ...structured, parts: [value] });
  const whole = value ?? (structured && bytes.subarray(structured.start, structured.end));
  const doubled: Block[] = [];
  for (const block of blocks) {
    if (!block.text) continue;
    const text = yield* unescapeInSlices(bytes, block.text);
    const start = yield* jsonIn(text);
    const shaped = start === -1 ? undefined : yield* shapedValue(text, start, rules);
    if (rules.dedupe && whole && (yield* isDouble(shaped ?? text, whole))) doubled.push(block);
    else if (shaped) edits.push({ ...block.text, parts: yield* escapeInSlices(shaped) });
  }
  if (doubled.length > 0 && !parts.hasMore) edits.push(...withoutBlocks(parts, doubled));
  return edits.length === 0 ? undefined : yield* applied(bytes, edits);
}

/** Returns undefined if the value stays as it is. */
function* shapedValue(bytes: Buffer, start: number, rules: ResultRules): Sliced<Buffer | undefined> {
  const { pick, drop, compact } = rules;
  if (pick.length + drop.length === 0 && !compact) return undefined;
  const end = yield* skipLong(bytes, start);
  const before = bytes.subarray(start, end);
  const left = pick.length + drop.length > 0 ? yield* keepFields(bytes, start, fieldsFor(rules)) : undefined;
  let after = left ?? before;
  if (compact) after = yield* withoutSpaces(after, { start: 0, end: after.length });
  return after.length === before.length ? undefined : after;
}

/** Larger values are the same only if their characters are, but for spaces. */
const LARGE = 256 * 1024;

/** Whether a text says what the structured content says, or what is in its only member `result`. */
function* isDouble(text: Buffer, structured: Buffer): Sliced<boolean> {
  if ((yield* jsonIn(text)) !== -1 && (yield* isSame(text, structured))) return true;
  const inner = yield* onlyMember(structured, "result");
  if (!inner) return false;
  if (structured[inner.start] === QUOTE) return text.equals(yield* unescapeInSlices(structured, inner));
  return yield* isSame(text, structured.subarray(inner.start, inner.end));
}

function* isSame(a: Buffer, b: Buffer): Sliced<boolean> {
  if (a.length + b.length > LARGE) {
    const left = yield* withoutSpaces(a, { start: 0, end: a.length });
    return left.equals(yield* withoutSpaces(b, { start: 0, end: b.length }));
  }
  try {
    const [left, right] = [a.toString("utf8"), b.toString("utf8")];
    // A number or a word that is only a part of a text is not the same.
    JSON.parse(left);
    return canonical(left) === canonical(right);
  } catch {
    // Not JSON, or nested too deep to be compared.
    return false;
  }
}

function* onlyMember(bytes: Buffer, name: string): Sliced<Span | undefined> {
  const [found] = yield* membersOf(bytes, 0, [name]);
  if (!found || bytes[afterComma(bytes, found.end)] !== CLOSE_BRACE) return undefined;
  const start = skipSpaces(bytes, 1);
  const end = yield* skipLong(bytes, start);
  return byteKey(bytes, { start, end }) === name && valueAfter(bytes, end) === found.start ? found : undefined;
}

/** Takes each of these blocks out, with one of the commas beside it. */
function withoutBlocks({ blocks, content }: ResultParts, gone: readonly Block[]): Edit[] {
  const left = blocks.filter((block) => !gone.includes(block));
  const first = left[0];
  if (!first) return [{ start: content!.start + 1, end: content!.end - 1, parts: [] }];
  return gone.map((block) => {
    const index = blocks.indexOf(block);
    const isLeading = block.start < first.start;
    return isLeading
      ? { start: block.start, end: blocks[index + 1]!.start, parts: [] }
      : { start: blocks[index - 1]!.end, end: block.end, parts: [] };
  });
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

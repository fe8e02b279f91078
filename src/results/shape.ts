/**
 * Leaves fields, spaces and doubled text out of a result, as its rules say. What is JSON is
 * shaped: the structured content, and each text that is JSON as a whole. Everything else keeps its
 * bytes, and a result in which nothing is to be changed stays as it is.
 */
import { canonical } from "../json/canonical.ts";
import { byteKey, escapeInSlices, type JsonBytes, jsonBytes, unescapeInSlices } from "../json/json-bytes.ts";
import { membersInSlices, skipInSlices } from "../json/json-slices.ts";
import { type Span, skipSpace } from "../json/json-text.ts";
import { type Fields, fieldsOf, keepFields, withoutSpaces } from "../json/shape-json.ts";
import type { ResultRules } from "../protocol/results/result-rules.ts";
import type { Sliced } from "../timing/slices.ts";
import { jsonIn } from "./document.ts";
import type { Block, ResultParts } from "./result-parts.ts";

interface Edit extends Span {
  readonly bytes: Buffer;
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
  const { json, blocks, structured } = parts;
  const edits: Edit[] = [];
  const value = structured && (yield* shapedValue(json, structured.start, rules));
  if (structured && value) edits.push({ ...structured, bytes: value });
  const whole = value ?? (structured && json.bytes.subarray(structured.start, structured.end));
  const doubled: Block[] = [];
  for (const block of blocks) {
    if (!block.text) continue;
    const text = yield* unescapeInSlices(json, block.text);
    const start = yield* jsonIn(text);
    const shaped = start === -1 ? undefined : yield* shapedValue(jsonBytes(text), start, rules);
    if (rules.dedupe && whole && (yield* isDouble(shaped ?? text, whole))) doubled.push(block);
    else if (shaped) edits.push({ ...block.text, bytes: yield* escapeInSlices(shaped) });
  }
  if (doubled.length > 0 && !parts.hasMore) edits.push(...withoutBlocks(parts, doubled));
  return edits.length === 0 ? undefined : applied(json.bytes, edits);
}

/** Returns undefined if the value stays as it is. */
function* shapedValue(json: JsonBytes, start: number, rules: ResultRules): Sliced<Buffer | undefined> {
  const { pick, drop, compact } = rules;
  if (pick.length + drop.length === 0 && !compact) return undefined;
  const end = yield* skipInSlices(json.text, start);
  const before = json.bytes.subarray(start, end);
  const left = pick.length + drop.length > 0 ? yield* keepFields(json, start, fieldsFor(rules)) : undefined;
  let after = left ?? before;
  if (compact) after = yield* withoutSpaces(jsonBytes(after), { start: 0, end: after.length });
  return after.length === before.length ? undefined : after;
}

/** Larger values are the same only if their characters are, but for spaces. */
const LARGE = 256 * 1024;

/** Whether a text says what the structured content says, or what is in its only member `result`. */
function* isDouble(text: Buffer, structured: Buffer): Sliced<boolean> {
  if ((yield* jsonIn(text)) !== -1 && (yield* isSame(text, structured))) return true;
  const json = jsonBytes(structured);
  const inner = yield* onlyMember(json, "result");
  if (!inner) return false;
  const isText = json.text[inner.start] === '"';
  if (isText) return text.equals(yield* unescapeInSlices(json, inner));
  return yield* isSame(text, structured.subarray(inner.start, inner.end));
}

function* isSame(a: Buffer, b: Buffer): Sliced<boolean> {
  if (a.length + b.length > LARGE) {
    const left = yield* withoutSpaces(jsonBytes(a), { start: 0, end: a.length });
    return left.equals(yield* withoutSpaces(jsonBytes(b), { start: 0, end: b.length }));
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

function* onlyMember(json: JsonBytes, name: string): Sliced<Span | undefined> {
  const { text } = json;
  const [found] = yield* membersInSlices(text, 0, [name]);
  if (!found || text[skipSpace(text, found.end)] !== "}") return undefined;
  const key = skipSpace(text, skipSpace(text, 0) + 1);
  const end = yield* skipInSlices(text, key);
  const isFirst = byteKey(json, { start: key, end }) === name;
  return isFirst && skipSpace(text, skipSpace(text, end) + 1) === found.start ? found : undefined;
}

/** Takes each of these blocks out, with one of the commas beside it. */
function withoutBlocks({ blocks, content }: ResultParts, gone: readonly Block[]): Edit[] {
  const left = blocks.filter((block) => !gone.includes(block));
  const first = left[0];
  if (!first) return [{ start: content!.start + 1, end: content!.end - 1, bytes: NOTHING }];
  return gone.map((block) => {
    const index = blocks.indexOf(block);
    const isLeading = block.start < first.start;
    return isLeading
      ? { start: block.start, end: blocks[index + 1]!.start, bytes: NOTHING }
      : { start: blocks[index - 1]!.end, end: block.end, bytes: NOTHING };
  });
}

const NOTHING = Buffer.alloc(0);

function applied(bytes: Buffer, edits: readonly Edit[]): Buffer {
  const out: Buffer[] = [];
  let from = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    out.push(bytes.subarray(from, edit.start), edit.bytes);
    from = edit.end;
  }
  out.push(bytes.subarray(from));
  return Buffer.concat(out);
}

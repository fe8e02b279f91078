/**
 * Reads a part of a kept result, for `read_result`: the value at a path, some of its items, those
 * that have a text in them. What is returned never has more tokens than a result may have, roughly,
 * and says how to go on.
 */
import { skipLong } from "../../lib/json/bytes/byte-values.ts";
import { withoutSpaces } from "../../lib/json/bytes/shape-json.ts";
import { estimateTokens } from "../../lib/text/token-estimate.ts";
import type { Sliced } from "../../lib/timing/slices.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { ResultDocument } from "./document.ts";
import { beginning } from "./preview.ts";
import { type Item, itemsOf } from "./read-items.ts";
import { placeOf, stepsIn } from "./read-path.ts";

export interface PartWanted {
  readonly path?: string | undefined;
  readonly from?: number | undefined;
  readonly count?: number | undefined;
  readonly grep?: string | undefined;
}

/** For the line that says how to go on. */
const LAST_LINE = 40;
const MIN_TOKENS = 16;
/** A longer text is not one of so few tokens. */
const BYTES_PER_TOKEN = 16;
/** The bytes that are searched at once. */
const SEARCHED = 64 * 1024;

export function* readPart(document: ResultDocument, wanted: PartWanted, maxTokens: number): Sliced<string> {
  const start = yield* startOf(document, wanted.path);
  const most = Math.max(MIN_TOKENS, maxTokens - LAST_LINE);
  if (wanted.from === undefined && wanted.count === undefined && wanted.grep === undefined) {
    const whole = yield* wholeOf(document, start);
    if (whole.length <= most * BYTES_PER_TOKEN) {
      const text = whole.toString("utf8");
      if (estimateTokens(text) <= most) return text;
    }
  }
  return yield* listed(document, start, { ...wanted, most });
}

function* startOf(document: ResultDocument, path = ""): Sliced<number> {
  const steps = stepsIn(path);
  if (!steps) throw new GoblinError("INVALID_PARAMS", `read_result got a wrong "path": write it like items[3].title`);
  if (document.kind === "text") {
    if (steps.length === 0) return 0;
    throw new GoblinError("INVALID_PARAMS", 'read_result: this result is text without a structure; leave "path" out');
  }
  const start = yield* placeOf(document.bytes, document.start, steps);
  if (start !== -1) return start;
  throw new GoblinError("INVALID_PARAMS", `read_result: the result has nothing at the path ${path.slice(0, 200)}`);
}

function* wholeOf({ kind, bytes }: ResultDocument, start: number): Sliced<Buffer> {
  return kind === "text" ? bytes : yield* withoutSpaces(bytes, { start, end: yield* skipLong(bytes, start) });
}

function* listed(
  document: ResultDocument,
  start: number,
  { from = 0, count = Number.POSITIVE_INFINITY, grep, most }: PartWanted & { readonly most: number },
): Sliced<string> {
  const items = yield* itemsOf(document, start);
  const isLines = items.kind === "lines";
  const wanted = grep?.toLowerCase();
  const lines: string[] = [];
  let tokens = 0;
  let seen = 0;
  let next: number | undefined;
  const show = function* (item: Item, index: number): Sliced<void> {
    if (wanted !== undefined && !(yield* hasText(item, wanted))) return;
    const isFull = lines.length >= count || (lines.length > 0 && tokens >= most);
    const value =
      isFull || isLines ? item.bytes.subarray(item.start, item.end) : yield* withoutSpaces(item.bytes, item);
    const line = isFull ? "" : labelOf(item, index, !isLines || grep !== undefined) + beginning(value, most);
    const cost = estimateTokens(line) + 1;
    yield 1 + (cost >> 2);
    if (isFull || (lines.length > 0 && tokens + cost > most)) {
      next = index;
      return;
    }
    tokens += cost;
    lines.push(line);
  };
  yield* items.each((item, index) => {
    seen = index + 1;
    if (index < from || next !== undefined) return undefined;
    return wanted !== undefined && surelyLacks(item, wanted) ? undefined : show(item, index);
  });
  const total = `${seen} ${items.kind}`;
  if (lines.length === 0) lines.push(`(nothing: ${total}${grep === undefined ? "" : ", none with this text"})`);
  lines.push(next === undefined ? `(${total}, to the end)` : `(${total}; go on with "from": ${next})`);
  return lines.join("\n");
}

/** What stands before an item: `[3] `, `"name": ` or nothing. */
function labelOf({ bytes, key }: Item, index: number, isNumbered: boolean): string {
  if (key) return `${bytes.toString("utf8", key.start, Math.min(key.end, key.start + MAX_KEY_LENGTH))}: `;
  return isNumbered ? `[${index}] ` : "";
}

const MAX_KEY_LENGTH = 500;

/** Most items are short, and need no slices. */
const SHORT = 500;

function surelyLacks({ bytes, start, end, key }: Item, wanted: string): boolean {
  const from = key?.start ?? start;
  return end - from < SHORT && !bytes.toString("utf8", from, end).toLowerCase().includes(wanted);
}

/** A plain search, in any case: an expression of a client could take forever. */
function* hasText({ bytes, start, end, key }: Item, wanted: string): Sliced<boolean> {
  if (key && bytes.toString("utf8", key.start, key.end).toLowerCase().includes(wanted)) return true;
  for (let at = start; at < end; at += SEARCHED) {
    const part = bytes.toString("utf8", at, Math.min(end, at + SEARCHED + 4 * wanted.length));
    yield 1 + (part.length >> 9);
    if (part.toLowerCase().includes(wanted)) return true;
  }
  return false;
}

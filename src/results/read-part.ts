/**
 * Reads a part of a kept result, for `read_result`: the value at a path, some of its items, those
 * that have a text in them. What is returned never has more tokens than a result may have, roughly,
 * and says how to go on.
 */
import { skipInSlices } from "../json/json-slices.ts";
import { withoutSpaces } from "../json/shape-json.ts";
import { GoblinError } from "../protocol/errors.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import type { Sliced } from "../timing/slices.ts";
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
const SHORTEST = 16;
/** A longer text is not one of so few tokens. */
const BYTES_PER_TOKEN = 16;
/** The bytes that are searched at once. */
const SEARCHED = 64 * 1024;

export function* readPart(document: ResultDocument, wanted: PartWanted, maxTokens: number): Sliced<string> {
  const start = yield* startOf(document, wanted.path);
  const most = Math.max(SHORTEST, maxTokens - LAST_LINE);
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
  const start = yield* placeOf(document.json, document.start, steps);
  if (start !== -1) return start;
  throw new GoblinError("INVALID_PARAMS", `read_result: the result has nothing at the path ${path.slice(0, 200)}`);
}

function* wholeOf(document: ResultDocument, start: number): Sliced<Buffer> {
  if (document.kind === "text") return document.bytes;
  const { json } = document;
  return yield* withoutSpaces(json, { start, end: yield* skipInSlices(json.text, start) });
}

function* listed(
  document: ResultDocument,
  start: number,
  { from = 0, count = Number.POSITIVE_INFINITY, grep, most }: PartWanted & { readonly most: number },
): Sliced<string> {
  const items = yield* itemsOf(document, start);
  const wantedText = grep?.toLowerCase();
  const lines: string[] = [];
  let tokens = 0;
  let seen = 0;
  let next: number | undefined;
  const take = function* (item: Item, index: number): Sliced<void> {
    seen = index + 1;
    if (index < from || next !== undefined) return;
    if (wantedText !== undefined && !(yield* hasText(item, wantedText))) return;
    const isFull = lines.length >= count || (lines.length > 0 && tokens >= most);
    const line = isFull ? "" : shown(item, items.kind === "lines" && grep !== undefined ? index : undefined, most);
    const cost = estimateTokens(line) + 1;
    if (isFull || (lines.length > 0 && tokens + cost > most)) {
      next = index;
      return;
    }
    tokens += cost;
    lines.push(line);
  };
  yield* items.each(take);
  const total = `${seen} ${items.kind}`;
  if (lines.length === 0) lines.push(`(nothing: ${total}${grep === undefined ? "" : ", none with this text"})`);
  lines.push(next === undefined ? `(${total}, to the end)` : `(${total}; go on with "from": ${next})`);
  return lines.join("\n");
}

function shown({ label, bytes }: Item, line: number | undefined, most: number): string {
  return `${line === undefined ? label : `[${line}] `}${beginning(bytes, most)}`;
}

/** A plain search, in any case: an expression of a client could take forever. */
function* hasText({ label, bytes }: Item, wanted: string): Sliced<boolean> {
  if (label.toLowerCase().includes(wanted)) return true;
  for (let at = 0; at < bytes.length; at += SEARCHED) {
    const part = bytes.toString("utf8", at, at + SEARCHED + 4 * wanted.length);
    if (part.toLowerCase().includes(wanted)) return true;
    yield 1 + (part.length >> 9);
  }
  return false;
}

/**
 * The beginning of a result that is kept: of JSON its structure and the first elements of its
 * longest array, of a text its first lines. It never has more tokens than it may, roughly.
 */
import { elementsOf, skipLong } from "../../lib/json/bytes/byte-values.ts";
import { withoutSpaces } from "../../lib/json/bytes/shape-json.ts";
import { estimateTokens } from "../../lib/text/token-estimate.ts";
import type { Sliced } from "../../lib/timing/slices.ts";
import type { ResultDocument } from "./document.ts";
import { outlineOf } from "./outline.ts";

/** The structure may take half of the preview. */
const OUTLINE_SHARE = 2;
const MAX_ELEMENTS = 100;
/** The bytes that are enough for a token. No estimate is lower. */
const BYTES_PER_TOKEN = 16;
const MAX_ELEMENT_LENGTH = 1000;
/** The characters that are estimated at once. */
const STEP = 2048;

export function* previewOf(document: ResultDocument, tokens: number): Sliced<string> {
  if (document.kind === "text") return beginning(document.bytes, tokens);
  const { bytes, start } = document;
  const { text: outline, longest } = yield* outlineOf(bytes, start);
  const head = `Structure: ${cutTo(outline, Math.floor(tokens / OUTLINE_SHARE))}`;
  let left = tokens - estimateTokens(head);
  if (!longest) {
    const value = yield* withoutSpaces(bytes, { start, end: yield* skipLong(bytes, start) });
    return left > 0 ? `${head}\n${beginning(value, left)}` : head;
  }
  const lines = [head];
  const elements = yield* elementsOf(bytes, longest.start, MAX_ELEMENTS);
  for (const [index, element] of elements.entries()) {
    if (left <= 0) break;
    const value = yield* withoutSpaces(bytes, element);
    const line = `${longest.path}[${index}] = ${cutTo(beginning(value, left), left, MAX_ELEMENT_LENGTH)}`;
    left -= estimateTokens(line) + 1;
    lines.push(line);
  }
  return lines.join("\n");
}

/** The beginning of a text. */
export function beginning(bytes: Buffer, tokens: number): string {
  const most = tokens * BYTES_PER_TOKEN;
  const text = bytes.toString("utf8", 0, most);
  return cutTo(bytes.length > most ? `${withoutHalf(text)}…` : text, tokens);
}

/** The text, or its beginning and `…` if it has more tokens than this. */
export function cutTo(text: string, tokens: number, characters = Number.POSITIVE_INFINITY): string {
  const end = Math.min(text.length, characters);
  let left = tokens;
  let at = 0;
  while (at < end) {
    const part = text.slice(at, Math.min(at + STEP, end));
    const cost = estimateTokens(part);
    if (cost > left) return `${withoutHalf(text.slice(0, at + fitting(part, left)))}…`;
    left -= cost;
    at += part.length;
  }
  return end === text.length ? text : `${withoutHalf(text.slice(0, end))}…`;
}

/** How many characters of a short text have no more tokens than this. */
function fitting(text: string, tokens: number): number {
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (estimateTokens(text.slice(0, middle)) <= tokens) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Without the half of a character at its end. */
function withoutHalf(text: string): string {
  return text.replace(/(?:[\uD800-\uDBFF]|\uFFFD{1,3})$/, "");
}

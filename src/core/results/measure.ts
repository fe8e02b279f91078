/**
 * Measures results in estimated tokens, as far as a limit needs it.
 *
 * What counts is what a model reads: the larger one of the content and the structured content,
 * since clients give a model one of them. The data of images and audio does not count.
 */
import type { Span } from "../../lib/json/json-text.ts";
import { estimateTokens } from "../../lib/text/token-estimate.ts";
import type { Sliced } from "../../lib/timing/slices.ts";
import { isMedia, type ResultParts } from "./result-parts.ts";

/** The bytes that are estimated at once, and their cost. */
const WINDOW = 16 * 1024;
const WINDOW_COST = 250;
/** No character costs more tokens. */
const MAX_PER_BYTE = 1.3;

/** Whether a result of this many bytes is surely within the limit. */
export function isSurelyWithin(bytes: number, maxTokens: number): boolean {
  return bytes * MAX_PER_BYTE <= maxTokens;
}

export interface Measured {
  readonly isOver: boolean;
  /** Of a result that is over the limit, this is extrapolated from its beginning. */
  readonly tokens: number;
}

export function* measure(parts: ResultParts, maxTokens: number): Sliced<Measured> {
  const content = yield* tokensIn(parts.bytes, textSpans(parts), maxTokens);
  const structured = parts.structured && (yield* tokensIn(parts.bytes, [parts.structured], maxTokens));
  const tokens = Math.max(content, structured ?? 0);
  return { isOver: tokens > maxTokens, tokens };
}

function textSpans({ blocks, hasMore, content }: ResultParts): Span[] {
  const spans: Span[] = blocks.filter((block) => !isMedia(block));
  const last = blocks.at(-1);
  if (hasMore && last && content) spans.push({ start: last.end, end: content.end });
  return spans;
}

function* tokensIn(bytes: Buffer, spans: readonly Span[], most: number): Sliced<number> {
  const length = spans.reduce((sum, { start, end }) => sum + end - start, 0);
  let tokens = 0;
  let seen = 0;
  for (const { start, end } of spans) {
    for (let at = start; at < end; at += WINDOW) {
      const part = bytes.subarray(at, Math.min(at + WINDOW, end));
      tokens += estimateTokens(plain(part.toString("utf8")));
      seen += part.length;
      if (tokens > most) return Math.max(tokens, Math.round((tokens * length) / seen));
      yield WINDOW_COST;
    }
  }
  return tokens;
}

/** Models read the value of a string, not its escapes. */
function plain(text: string): string {
  return text.includes("\\")
    ? text.replace(/\\(?:u[\da-fA-F]{4}|(.))/g, (_, letter) => values[letter] ?? letter ?? "?")
    : text;
}

const values: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: " ", f: " " };

/**
 * The items of a value, one by one: the elements of an array, the members of an object, or the
 * lines of a text. An item is only looked at if it is asked for.
 */
import { afterComma, skipLong, skipShort, skipSpaces, valueAfter } from "../../lib/json/bytes/byte-values.ts";
import { unescapeInSlices } from "../../lib/json/bytes/json-bytes.ts";
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  NEWLINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  RETURN,
} from "../../lib/json/characters.ts";
import type { Span } from "../../lib/json/json-text.ts";
import type { Sliced } from "../../lib/timing/slices.ts";
import type { ResultDocument } from "./document.ts";

export interface Item extends Span {
  /** What the places are in. */
  readonly bytes: Buffer;
  /** The key of a member, with its quotes. */
  readonly key: Span | undefined;
}

/** Undefined: the item is not wanted, and costs nothing more. */
type Take = (item: Item, index: number) => Sliced<void> | undefined;

export interface Items {
  readonly kind: "elements" | "members" | "lines";
  each(take: Take): Sliced<void>;
}

/** Items between two yields, and what they cost if nobody wants them. */
const MANY = 1000;
const MANY_COST = 200;

/** Returns the items of the value at `start`. */
export function* itemsOf(document: ResultDocument, start: number): Sliced<Items> {
  const { bytes, kind } = document;
  if (kind === "text") return linesOf(bytes);
  switch (bytes[start]) {
    case OPEN_BRACE:
    case OPEN_BRACKET: {
      const isObject = bytes[start] === OPEN_BRACE;
      return { kind: isObject ? "members" : "elements", each: (take) => eachValue(bytes, start, take) };
    }
    case QUOTE: {
      const end = yield* skipLong(bytes, start);
      return linesOf(yield* unescapeInSlices(bytes, { start, end }));
    }
    default:
      return linesOf(bytes.subarray(start, yield* skipLong(bytes, start)));
  }
}

function* eachValue(bytes: Buffer, start: number, take: Take): Sliced<void> {
  const isObject = bytes[start] === OPEN_BRACE;
  const close = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
  let at = skipSpaces(bytes, start + 1);
  for (let index = 0; bytes[at] !== close; index++) {
    let key: Span | undefined;
    if (isObject) {
      let keyEnd = skipShort(bytes, at);
      if (keyEnd === -1) keyEnd = yield* skipLong(bytes, at);
      key = { start: at, end: keyEnd };
      at = valueAfter(bytes, keyEnd);
    }
    let end = skipShort(bytes, at);
    if (end === -1) end = yield* skipLong(bytes, at);
    const taken = take({ bytes, start: at, end, key }, index);
    if (taken) yield* taken;
    at = afterComma(bytes, end);
    if (index % MANY === 0) yield MANY_COST;
  }
}

/** A longer line counts as several, so that all of it can be read. */
const MAX_LINE_LENGTH = 4000;

function linesOf(bytes: Buffer): Items {
  return {
    kind: "lines",
    *each(take) {
      let at = 0;
      let cost = 0;
      for (let index = 0; at < bytes.length; index++) {
        const found = breakIn(bytes, at);
        const end = found === -1 ? wholeCharacters(bytes, at) : found;
        const isCr = found > at && bytes[found - 1] === RETURN;
        const taken = take({ bytes, start: at, end: isCr ? end - 1 : end, key: undefined }, index);
        if (taken) yield* taken;
        cost += 1 + ((end - at) >> 8);
        at = found === -1 ? end : end + 1;
        if (cost < MANY) continue;
        yield cost >> 1;
        cost = 0;
      }
    },
  };
}

function breakIn(bytes: Buffer, from: number): number {
  const found = bytes.subarray(from, from + MAX_LINE_LENGTH + 1).indexOf(NEWLINE);
  return found === -1 ? -1 : from + found;
}

/** Returns where a long line is parted, not within a character. */
function wholeCharacters(bytes: Buffer, from: number): number {
  if (from + MAX_LINE_LENGTH >= bytes.length) return bytes.length;
  let end = from + MAX_LINE_LENGTH;
  while (end > from + MAX_LINE_LENGTH - 4 && (bytes[end]! & 0xc0) === 0x80) end--;
  return end;
}

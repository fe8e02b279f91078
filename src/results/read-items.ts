/**
 * The items of a value, one by one: the elements of an array, the members of an object, or the
 * lines of a text. The bytes of each are at hand, decoded or not.
 */
import { COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "../json/characters.ts";
import { type JsonBytes, unescapeInSlices } from "../json/json-bytes.ts";
import { skipInSlices } from "../json/json-slices.ts";
import { skipSpace } from "../json/json-text.ts";
import { withoutSpaces } from "../json/shape-json.ts";
import type { Sliced } from "../timing/slices.ts";
import type { ResultDocument } from "./document.ts";

export interface Item {
  /** What stands before it: `[3] `, `name: ` or nothing. */
  readonly label: string;
  readonly bytes: Buffer;
}

type Take = (item: Item, index: number) => Sliced<void>;

export interface Items {
  readonly kind: "elements" | "members" | "lines";
  each(take: Take): Sliced<void>;
}

const LINE_BREAK = 10;
const RETURN = 13;
/** Items without an own cost. */
const ITEM_COST = 2;

/** Returns the items of the value at `start`. */
export function* itemsOf(document: ResultDocument, start: number): Sliced<Items> {
  if (document.kind === "text") return linesOf(document.bytes);
  const { json } = document;
  switch (json.text.charCodeAt(start)) {
    case OPEN_BRACE:
      return { kind: "members", each: (take) => eachMember(json, start, take) };
    case OPEN_BRACKET:
      return { kind: "elements", each: (take) => eachElement(json, start, take) };
    case QUOTE: {
      const end = yield* skipInSlices(json.text, start);
      return linesOf(yield* unescapeInSlices(json, { start, end }));
    }
    default:
      return linesOf(json.bytes.subarray(start, yield* skipInSlices(json.text, start)));
  }
}

function* eachElement(json: JsonBytes, start: number, take: Take): Sliced<void> {
  const { text } = json;
  let at = skipSpace(text, start + 1);
  for (let index = 0; text[at] !== "]"; index++) {
    const end = yield* skipInSlices(text, at);
    const bytes = yield* withoutSpaces(json, { start: at, end });
    yield* take({ label: `[${index}] `, bytes }, index);
    at = afterComma(text, end);
    yield ITEM_COST + (bytes.length >> 9);
  }
}

function* eachMember(json: JsonBytes, start: number, take: Take): Sliced<void> {
  const { text } = json;
  let at = skipSpace(text, start + 1);
  for (let index = 0; text[at] !== "}"; index++) {
    const keyEnd = yield* skipInSlices(text, at);
    const value = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = yield* skipInSlices(text, value);
    const bytes = yield* withoutSpaces(json, { start: value, end });
    const key = json.bytes.toString("utf8", at, Math.min(keyEnd, at + LONGEST_KEY));
    yield* take({ label: `${key}: `, bytes }, index);
    at = afterComma(text, end);
    yield ITEM_COST + (bytes.length >> 9);
  }
}

const LONGEST_KEY = 500;

/** A longer line counts as several, so that all of it can be read. */
const LONGEST_LINE = 4000;

function linesOf(bytes: Buffer): Items {
  return {
    kind: "lines",
    *each(take) {
      let at = 0;
      for (let index = 0; at < bytes.length; index++) {
        const near = bytes.subarray(at, at + LONGEST_LINE + 1);
        const found = near.indexOf(LINE_BREAK);
        const length = found === -1 ? wholeCharacters(near) : found;
        const isCr = found > 0 && near[found - 1] === RETURN;
        yield* take({ label: "", bytes: near.subarray(0, isCr ? length - 1 : length) }, index);
        at += found === -1 ? length : length + 1;
        yield ITEM_COST;
      }
    },
  };
}

/** How many bytes of a line are taken, without a part of a character. */
function wholeCharacters(line: Buffer): number {
  if (line.length <= LONGEST_LINE) return line.length;
  let end = LONGEST_LINE;
  while (end > LONGEST_LINE - 4 && (line[end]! & 0xc0) === 0x80) end--;
  return end;
}

function afterComma(text: string, end: number): number {
  const at = skipSpace(text, end);
  return text.charCodeAt(at) === COMMA ? skipSpace(text, at + 1) : at;
}

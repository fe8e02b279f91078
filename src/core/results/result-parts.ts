/**
 * Takes a tool's result apart: its content blocks, its structured content, and everything else.
 * Places are places in its bytes.
 *
 * Invariant: the work is done in slices, and the number of blocks is bounded. What comes after the
 * last one is a part of the result, but no block.
 */
import {
  afterComma,
  elementsOf,
  membersOf,
  skipLong,
  skipShort,
  skipSpaces,
  valueAfter,
} from "../../lib/json/bytes/byte-values.ts";
import { byteKey } from "../../lib/json/bytes/json-bytes.ts";
import { CLOSE_BRACE, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "../../lib/json/characters.ts";
import type { Span } from "../../lib/json/json-text.ts";
import type { Sliced } from "../../lib/timing/slices.ts";

export interface Block extends Span {
  readonly type: string;
  /** The string of a text block, with its quotes. */
  readonly text: Span | undefined;
}

export interface Member {
  /** With its quotes. */
  readonly key: Span;
  readonly value: Span;
}

export interface ResultParts {
  /** The whole result. */
  readonly bytes: Buffer;
  readonly blocks: readonly Block[];
  /** Whether there are more blocks than these. */
  readonly hasMore: boolean;
  /** The array of the blocks. */
  readonly content: Span | undefined;
  readonly structured: Span | undefined;
  /** All other members. */
  readonly others: readonly Member[];
}

const MAX_BLOCKS = 5000;
const MAX_MEMBERS = 1000;

/** Returns undefined if it is no final result of a tool. */
export function* partsOf(bytes: Buffer): Sliced<ResultParts | undefined> {
  const members = yield* allMembers(bytes);
  if (!members) return undefined;
  let content: Span | undefined;
  let structured: Span | undefined;
  const others: Member[] = [];
  for (const member of members) {
    const name = byteKey(bytes, member.key);
    if (name === "content") content = member.value;
    else if (name === "structuredContent") structured = member.value;
    else others.push(member);
    // A question to the client, or a task that begins.
    if (name === "resultType" && textAt(bytes, member.value) !== '"complete"') return undefined;
  }
  if (content && bytes[content.start] !== OPEN_BRACKET) return undefined;
  if (!content && !structured) return undefined;
  const blocks: Block[] = [];
  const elements = content ? yield* elementsOf(bytes, content.start, MAX_BLOCKS + 1) : [];
  for (const element of elements.slice(0, MAX_BLOCKS)) {
    const [type, own] = yield* membersOf(bytes, element.start, ["type", "text"]);
    const name = type ? textAt(bytes, type).slice(1, -1) : "";
    const isText = name === "text" && own !== undefined && bytes[own.start] === QUOTE;
    blocks.push({ ...element, type: name, text: isText ? own : undefined });
    yield 2;
  }
  return { bytes, blocks, hasMore: elements.length > MAX_BLOCKS, content, structured, others };
}

/** Whether a block is for eyes and ears: models do not read its data as text. */
export function isMedia({ type }: Block): boolean {
  return type === "image" || type === "audio";
}

/** Types are short; a longer text is not a type. */
const MAX_TYPE_LENGTH = 100;

function textAt(bytes: Buffer, { start, end }: Span): string {
  return bytes.toString("latin1", start, Math.min(end, start + MAX_TYPE_LENGTH));
}

/** Returns the members of an object; undefined if there is no object, or it has too many. */
function* allMembers(bytes: Buffer): Sliced<Member[] | undefined> {
  const open = skipSpaces(bytes, 0);
  if (bytes[open] !== OPEN_BRACE) return undefined;
  const members: Member[] = [];
  let at = skipSpaces(bytes, open + 1);
  while (bytes[at] !== CLOSE_BRACE) {
    if (members.length === MAX_MEMBERS) return undefined;
    let keyEnd = skipShort(bytes, at);
    if (keyEnd === -1) keyEnd = yield* skipLong(bytes, at);
    const start = valueAfter(bytes, keyEnd);
    let end = skipShort(bytes, start);
    if (end === -1) end = yield* skipLong(bytes, start);
    members.push({ key: { start: at, end: keyEnd }, value: { start, end } });
    at = afterComma(bytes, end);
  }
  return members;
}

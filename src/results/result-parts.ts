/**
 * Takes a tool's result apart: its content blocks, its structured content, and everything else.
 * Places are places in its bytes.
 *
 * Invariant: the work is done in slices, and the number of blocks is bounded. What comes after the
 * last one is a part of the result, but no block.
 */
import { CLOSE_BRACE, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "../json/characters.ts";
import { byteKey, type JsonBytes } from "../json/json-bytes.ts";
import { elementsInSlices, membersInSlices, skipInSlices } from "../json/json-slices.ts";
import { type Span, skipSpace } from "../json/json-text.ts";
import type { Sliced } from "../timing/slices.ts";

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
  readonly json: JsonBytes;
  readonly blocks: readonly Block[];
  /** Whether there are more blocks than these. */
  readonly hasMore: boolean;
  /** The array of the blocks. */
  readonly content: Span | undefined;
  readonly structured: Span | undefined;
  /** All other members. */
  readonly others: readonly Member[];
}

const MOST_BLOCKS = 5000;
const MOST_MEMBERS = 1000;

/** Returns undefined if the object at `pos` is no final result of a tool. */
export function* partsOf(json: JsonBytes, pos = 0): Sliced<ResultParts | undefined> {
  const { text } = json;
  const members = yield* allMembers(json, pos);
  if (!members) return undefined;
  let content: Span | undefined;
  let structured: Span | undefined;
  const others: Member[] = [];
  for (const member of members) {
    const name = byteKey(json, member.key);
    if (name === "content") content = member.value;
    else if (name === "structuredContent") structured = member.value;
    else others.push(member);
    // A question to the client, or a task that begins.
    if (name === "resultType" && text.slice(member.value.start, member.value.end) !== '"complete"') return undefined;
  }
  if (content && text.charCodeAt(content.start) !== OPEN_BRACKET) return undefined;
  if (!content && !structured) return undefined;
  const blocks: Block[] = [];
  const elements = content ? yield* elementsInSlices(text, content.start, MOST_BLOCKS + 1) : [];
  for (const element of elements.slice(0, MOST_BLOCKS)) {
    const [type, own] = yield* membersInSlices(text, element.start, ["type", "text"]);
    const name = type ? text.slice(type.start + 1, type.end - 1) : "";
    const isText = name === "text" && own !== undefined && text.charCodeAt(own.start) === QUOTE;
    blocks.push({ ...element, type: name, text: isText ? own : undefined });
    yield 2;
  }
  return { json, blocks, hasMore: elements.length > MOST_BLOCKS, content, structured, others };
}

/** Whether a block is for eyes and ears: models do not read its data as text. */
export function isMedia({ type }: Block): boolean {
  return type === "image" || type === "audio";
}

/** Returns the members of an object; undefined if there is no object, or it has too many. */
function* allMembers({ text }: JsonBytes, pos: number): Sliced<Member[] | undefined> {
  const open = skipSpace(text, pos);
  if (text.charCodeAt(open) !== OPEN_BRACE) return undefined;
  const members: Member[] = [];
  let at = skipSpace(text, open + 1);
  while (text.charCodeAt(at) !== CLOSE_BRACE) {
    if (members.length === MOST_MEMBERS) return undefined;
    const key = { start: at, end: yield* skipInSlices(text, at) };
    const start = skipSpace(text, skipSpace(text, key.end) + 1);
    const end = yield* skipInSlices(text, start);
    members.push({ key, value: { start, end } });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return members;
}

/**
 * The answers that stand for a result that is too long: with a preview and a link, cut, or an
 * error. `isError`, `_meta` and all other members of the result stay; images and audio stay too,
 * except in an error.
 */

import { byteKey, unescapeInSlices } from "../../lib/json/bytes/json-bytes.ts";
import { withoutSpaces } from "../../lib/json/bytes/shape-json.ts";
import { estimateTokens } from "../../lib/text/token-estimate.ts";
import type { Sliced } from "../../lib/timing/slices.ts";
import { resultUri } from "../../mcp/identifiers/result-ids.ts";
import type { KeptResult } from "./kept-results.ts";
import type { Measured } from "./measure.ts";
import { beginning } from "./preview.ts";
import { isMedia, type ResultParts } from "./result-parts.ts";

export interface TooLong {
  readonly parts: ResultParts;
  readonly measured: Measured;
  readonly maxTokens: number;
  /** The tool as clients know it; empty if that is not known. */
  readonly tool: string;
}

export interface Shown {
  readonly kept: KeptResult;
  readonly preview: string;
  readonly mimeType: string;
  /** Whether the client knows links in results. */
  readonly hasLinks: boolean;
  /** Whether the client can see `read_result`. */
  readonly hasReader: boolean;
}

export function spilledAnswer(result: TooLong, { kept, preview, mimeType, hasLinks, hasReader }: Shown): Buffer {
  const { parts, tool } = result;
  const uri = resultUri(kept.id);
  const minutes = Math.max(1, Math.round((kept.expires - Date.now()) / 60_000));
  const how = hasReader
    ? `read parts of it with the tool read_result and {"id":"${kept.id}"}, besides path, from, count or grep`
    : "read it as a resource";
  const note = `${tooLong(result)} All of it is kept for ${minutes} min as ${uri}: ${how}.`;
  const link = { type: "resource_link", uri, name: `${tool || "task"} result`, mimeType, size: kept.size };
  const blocks = [textBlock(note), textBlock(preview), ...(hasLinks ? [JSON.stringify(link)] : [])];
  return assembled(parts, [...blocks.map((block) => Buffer.from(block)), ...mediaIn(parts)]);
}

/** What the text around a cut takes. */
const NOTE_TOKENS = 60;
const MIN_TOKENS = 16;
/** More bytes are never looked at for one token. */
const BYTES_PER_TOKEN = 32;

export function* cutAnswer(result: TooLong): Sliced<Buffer> {
  const { parts, maxTokens } = result;
  const { bytes: whole, structured } = parts;
  const kept: Buffer[] = [];
  let left = Math.max(MIN_TOKENS, maxTokens - NOTE_TOKENS);
  let isCut = false;
  for (const block of parts.blocks) {
    const bytes = whole.subarray(block.start, block.end);
    if (isMedia(block)) kept.push(bytes);
    else if (!isCut) {
      const near = { start: block.start, end: Math.min(block.end, block.start + left * BYTES_PER_TOKEN) };
      const cost = near.end < block.end ? left + 1 : estimateTokens(bytes.toString("utf8"));
      if (cost <= left) kept.push(bytes);
      else if (block.text)
        kept.push(Buffer.from(textBlock(beginning(yield* unescapeInSlices(whole, block.text), left))));
      isCut = cost > left;
      left -= cost;
    }
    yield 10;
  }
  if (structured && parts.blocks.every((block) => !block.text)) {
    const value = yield* withoutSpaces(whole, structured);
    kept.push(Buffer.from(textBlock(beginning(value, Math.max(MIN_TOKENS, left)))));
  }
  const note = `${tooLong(result)} It is cut here: the rest is missing. ${ASK_FOR_LESS}`;
  return assembled(parts, [...kept, Buffer.from(textBlock(note))]);
}

export function errorAnswer(result: TooLong): Buffer {
  const note = `${tooLong(result)} The tool has run, but its result is not shown. ${ASK_FOR_LESS}`;
  return assembled(result.parts, [Buffer.from(textBlock(note))], true);
}

const ASK_FOR_LESS = "Ask for less: a filter, a smaller page, fewer fields.";

function tooLong({ measured, maxTokens, tool, parts }: TooLong): string {
  const size = sizeText(parts.bytes.length);
  return `The result${tool ? ` of ${tool}` : ""} is too long: about ${measured.tokens} tokens (${size}), and at most ${maxTokens} are shown.`;
}

function sizeText(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function textBlock(text: string): string {
  return JSON.stringify({ type: "text", text });
}

function mediaIn({ blocks, bytes }: ResultParts): Buffer[] {
  return blocks.filter(isMedia).map(({ start, end }) => bytes.subarray(start, end));
}

/** The result with these blocks, and without its structured content. */
function assembled({ bytes, others }: ResultParts, blocks: readonly Buffer[], isError = false): Buffer {
  const out: Buffer[] = [OPEN];
  for (const [index, block] of blocks.entries()) out.push(index === 0 ? NOTHING : COMMA, block);
  out.push(Buffer.from(isError ? '],"isError":true' : "]"));
  for (const { key, value } of others) {
    if (isError && byteKey(bytes, key) === "isError") continue;
    out.push(COMMA, bytes.subarray(key.start, key.end), COLON, bytes.subarray(value.start, value.end));
  }
  out.push(CLOSE);
  return Buffer.concat(out);
}

const NOTHING = Buffer.alloc(0);
const OPEN = Buffer.from('{"content":[');
const COMMA = Buffer.from(",");
const COLON = Buffer.from(":");
const CLOSE = Buffer.from("}");

/**
 * Takes one page of a server's list apart, slice by slice between events, since a page may have
 * megabytes.
 *
 * Nothing is trusted: what is no valid JSON fails the page. An element that is no object is left
 * out, and so is one that is larger than it may be or nested deeper than any reader could be asked
 * to follow; those are counted. A definition that is taken can be walked recursively.
 */
import { setImmediate as nextTurn } from "node:timers/promises";

import { GoblinError } from "../../protocol/errors.ts";
import { ArrayReader, depthOf, startOfMember } from "../../protocol/json-elements.ts";
import { type Raw, rawText } from "../../protocol/json-rpc.ts";
import { memberSpan, memberText } from "../../protocol/json-text.ts";
import { type CacheHints, type Definition, hintsIn } from "../definitions.ts";

export interface DefinitionPage {
  readonly definitions: readonly Definition[];
  readonly leftOut: readonly LeftOut[];
  readonly hints: CacheHints;
  readonly nextCursor: string | undefined;
}

export interface LeftOut {
  /** The start of its name or URI, as far as it can be told. */
  readonly name: string;
  readonly why: "too large" | "too deep";
}

/**
 * Common JSON readers give up at 128 levels; a page of a list has three before the definition
 * begins.
 */
const MAX_DEPTH = 100;
/** What a page may have besides its list. */
const MAX_BESIDES = 1024 * 1024;
const SLICE_MS = 8;
const NAME_CHARACTERS = 80;

export async function readPage(raw: Raw, member: string, definitionBytes: number): Promise<DefinitionPage> {
  const text = rawText(raw);
  const start = startOfMember(text, member);
  if (start === -1 || text[start] !== "[") throw refused(`The list has no array "${member}"`);
  const definitions: Definition[] = [];
  const leftOut: LeftOut[] = [];
  let until = performance.now() + SLICE_MS;
  const elements = new ArrayReader(text, start);
  for (let span = elements.next(); span; span = elements.next()) {
    const element = text.slice(span.start, span.end);
    if (isOver(element, definitionBytes)) leftOut.push({ name: nameIn(element), why: "too large" });
    else if (depthOf(element) > MAX_DEPTH) leftOut.push({ name: nameIn(element), why: "too deep" });
    else {
      const value: unknown = JSON.parse(element);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        definitions.push({ text: element, value: value as Record<string, unknown> });
      }
    }
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + SLICE_MS;
  }
  if (text.length - (elements.end - start) > MAX_BESIDES) {
    throw refused(`A page has more than ${MAX_BESIDES} characters besides its "${member}"`);
  }
  const besides = `${text.slice(0, start)}[]${text.slice(elements.end)}`;
  const page = JSON.parse(besides) as Record<string, unknown>;
  // Of members with the same key the last one counts, and that would be another list.
  if (memberSpan(besides, 0, member)?.start !== start) throw refused(`The page has "${member}" twice`);
  const cursor = page["nextCursor"];
  return { definitions, leftOut, nextCursor: typeof cursor === "string" ? cursor : undefined, hints: hintsIn(page) };
}

function refused(message: string): GoblinError {
  return new GoblinError("BACKEND_ERROR", message);
}

/** A character has up to three bytes; most texts need not be counted. */
function isOver(text: string, bytes: number): boolean {
  return text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);
}

function nameIn(element: string): string {
  for (const key of ["name", "uri", "uriTemplate"]) {
    const name = memberText(element, key);
    if (name?.startsWith('"')) return name.slice(1, Math.min(name.length - 1, NAME_CHARACTERS + 1));
  }
  return "?";
}

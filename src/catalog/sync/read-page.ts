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
import { depthOf, elementsOf } from "../../protocol/json-elements.ts";
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
  const span = memberSpan(text, 0, member);
  if (!span || text[span.start] !== "[") {
    throw new GoblinError("BACKEND_ERROR", `The list has no array "${member}"`);
  }
  if (text.length - (span.end - span.start) > MAX_BESIDES) {
    throw new GoblinError("BACKEND_ERROR", `A page has more than ${MAX_BESIDES} characters besides its "${member}"`);
  }
  const page = JSON.parse(`${text.slice(0, span.start)}[]${text.slice(span.end)}`) as Record<string, unknown>;
  const definitions: Definition[] = [];
  const leftOut: LeftOut[] = [];
  let until = performance.now() + SLICE_MS;
  for (const { start, end } of elementsOf(text, span)) {
    const element = text.slice(start, end);
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
  const cursor = page["nextCursor"];
  return { definitions, leftOut, nextCursor: typeof cursor === "string" ? cursor : undefined, hints: hintsIn(page) };
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

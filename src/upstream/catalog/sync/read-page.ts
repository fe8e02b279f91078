/**
 * Splits one page of a server's list into definitions. Works in slices between events, since a page
 * can be megabytes long.
 *
 * Invariant: the page is untrusted. Invalid JSON fails it. Elements that are not objects are
 * skipped. Elements that are too large or too deeply nested are left out and reported. Every
 * returned definition is safe to walk recursively.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { ArrayReader, depthOf, startOfMember } from "../../../lib/json/json-elements.ts";
import { memberSpan, memberText } from "../../../lib/json/json-text.ts";
import { isRecord } from "../../../lib/structures/record.ts";
import { GoblinError } from "../../../mcp/protocol/errors.ts";
import { type Raw, rawText } from "../../../mcp/protocol/json-rpc.ts";
import { type CacheHints, type Definition, hintsIn } from "../definitions.ts";

export interface DefinitionPage {
  readonly definitions: readonly Definition[];
  readonly leftOut: readonly LeftOut[];
  readonly hints: CacheHints;
  readonly nextCursor: string | undefined;
}

export interface LeftOut {
  /** The start of its name or URI, or "?" if it has neither. */
  readonly name: string;
  readonly why: "too large" | "too deep";
}

/** Common JSON readers stop at 128 levels. A page nests its definitions three levels deep. */
const MAX_DEPTH = 100;
/** The most characters of a page outside of its list. */
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
      if (isRecord(value)) definitions.push({ text: element, value });
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
  // With duplicate keys, JSON.parse takes the last one, which would be a different list.
  if (memberSpan(besides, 0, member)?.start !== start) throw refused(`The page has "${member}" twice`);
  const cursor = page["nextCursor"];
  return { definitions, leftOut, nextCursor: typeof cursor === "string" ? cursor : undefined, hints: hintsIn(page) };
}

function refused(message: string): GoblinError {
  return new GoblinError("BACKEND_ERROR", message);
}

/** A UTF-16 code unit takes at most three bytes, so most texts need no counting. */
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

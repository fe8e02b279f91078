/**
 * Parses a large message in slices: one of many small values takes long. Both HTTP and stdio use
 * it, so a large message never holds up other clients and servers.
 */
import { parseInSlices, TooDeep } from "../../lib/json/json-parse.ts";
import { textOf } from "../../lib/text/utf8.ts";
import { type Sliced, textCost } from "../../lib/timing/slices.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { IncomingBody } from "../classify.ts";

/** Larger messages are parsed in slices. */
export const LARGE_BODY = 256 * 1024;

/**
 * `mayHave` is told of objects and arrays before they are made. If it returns false, the parse ends
 * with an error.
 */
export function* bodyInSlices(bytes: Buffer, mayHave: (containers: number) => boolean): Sliced<IncomingBody> {
  const text = textOf(bytes);
  yield textCost(text);
  const onContainers = (count: number): void => {
    if (!mayHave(count)) throw new Error("nobody waits for it, or it needs too much");
  };
  return { value: yield* parseInSlices(bytes, { onContainers }), text };
}

/** What to tell the sender of a message that could not be parsed. `what`: the message. */
export function parseProblem(error: unknown, what: string): GoblinError {
  if (!(error instanceof TooDeep)) return new GoblinError("PARSE_ERROR", `Parse error: ${what} is not valid JSON`);
  return new GoblinError("INVALID_REQUEST", `Invalid request: a large part of it is nested in ${error.message}`);
}

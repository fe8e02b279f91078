/**
 * `read_result`: reads a part of a result that was too long to be shown whole.
 *
 * Invariant: a result of another principal is answered like one that does not exist.
 */
import * as z from "zod";
import { lazy } from "../../lib/structures/lazy.ts";
import { resultIdIn } from "../../mcp/identifiers/result-ids.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { success } from "../../mcp/protocol/json-rpc.ts";
import { READER } from "../results/results.ts";
import { readArguments } from "./arguments.ts";
import { definitionOf, type MetaTool } from "./define.ts";

const SHOWN = 200;
const MAX_TEXT_LENGTH = 1000;

const input = lazy(() =>
  z.strictObject({
    id: z.string().describe("As the answer named it."),
    path: z.string().max(MAX_TEXT_LENGTH).optional().describe("Where to look in JSON, such as items[3].title."),
    from: z.int().min(0).optional().describe("The first element, member or line, from 0."),
    count: z.int().min(1).optional().describe("How many at most."),
    grep: z.string().min(1).max(MAX_TEXT_LENGTH).optional().describe("Only those with this text in them, in any case."),
  }),
);

export const readResult: MetaTool = {
  name: READER,
  definition: definitionOf({
    name: READER,
    title: "Read a kept result",
    description: "Reads parts of a result that was too long to be shown whole.",
    input,
    annotations: { readOnlyHint: true, openWorldHint: false },
  }),
  async answer(call, { catalog, results }) {
    const { id: named, ...wanted } = readArguments(READER, input(), call);
    const id = resultIdIn(named);
    const kept = id === undefined ? undefined : results.find(id, call, catalog.view(call.client));
    const text = kept && (await results.readPart(kept, wanted));
    if (text === undefined)
      throw new GoblinError("RESOURCE_NOT_FOUND", `Result not found: ${named.slice(0, SHOWN)}. Call its tool again.`);
    return success({ content: [{ type: "text", text }] });
  },
};

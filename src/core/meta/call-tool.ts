/**
 * `call_tool`: calls any tool by its name, listed or not.
 *
 * The request enters the gateway again as a direct call of that tool. The same policies, limits and
 * metrics apply, the same client gets progress and questions, and the answer's bytes are unchanged.
 *
 * Invariant: `call_tool` never calls itself.
 */
import * as z from "zod";
import { applyEdits, dropMembers, memberSpan, memberText, setMember } from "../../lib/json/json-text.ts";
import { lazy } from "../../lib/structures/lazy.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import { readArguments } from "./arguments.ts";
import { definitionOf, type MetaTool } from "./define.ts";
import { findTool } from "./tools.ts";

const NAME = "call_tool";

const input = lazy(() =>
  z.strictObject({
    name: z.string().describe("As search_tools gives it."),
    arguments: z.record(z.string(), z.unknown()).optional().describe("By its signature or schema."),
  }),
);

export const callTool: MetaTool = {
  name: NAME,
  definition: definitionOf({
    name: NAME,
    title: "Call a tool",
    description: "Calls any tool by name, also one that is not in your own list, and returns its result unchanged.",
    input,
    // The called tool is unknown here, so the hints assume the worst.
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  }),
  async answer(call, context, relay) {
    const { name } = readArguments(NAME, input(), call);
    if (name === NAME)
      throw new GoblinError("INVALID_PARAMS", `${NAME} does not call itself: give the tool's own name`);
    assertKnown(name, context.catalog.view(call.client));
    return relay.handle(asCallOf(name, call));
  },
};

function assertKnown(name: string, snapshot: Snapshot): void {
  if (snapshot.local.some(({ value }) => value["name"] === name)) return;
  try {
    findTool(name, snapshot);
  } catch (error) {
    // The call itself waits for a starting server.
    if (!(error instanceof GoblinError && error.awaits)) throw error;
  }
}

/**
 * Returns the same request with the tool's name and arguments in place of ours. All other params
 * stay.
 */
function asCallOf(name: string, call: Call): Call {
  const ours = memberText(call.text, "arguments") ?? "{}";
  const given = memberText(ours, "arguments");
  const named = setMember(call.text, "name", JSON.stringify(name));
  const span = memberSpan(named, 0, "arguments");
  const text =
    given === undefined || !span
      ? dropMembers(named, (key) => key === "arguments")
      : applyEdits(named, [{ ...span, text: given }]);
  const params: Record<string, unknown> = { ...call.params, name };
  delete params["arguments"];
  if (given !== undefined) params["arguments"] = JSON.parse(given);
  return call.derive({ method: call.method, params, text });
}

/**
 * The meta tools for the servers' tools: list them, search them, look one up.
 */
import * as z from "zod";
import { setMember } from "../../lib/json/json-text.ts";
import { namedOrThrow } from "../../upstream/catalog/find-or-throw.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import { limitCount, queryText, serverIdFilter, signedCardOf, toolCard, toolCardOf } from "./cards.ts";
import { defineMetaTool, JsonText } from "./define.ts";
import { orNearest } from "./did-you-mean.ts";

export const catalogTools = defineMetaTool({
  name: "catalog_tools",
  title: "List all tools",
  description:
    "Lists every available tool as a compact card, also those that are not in your own tool list. Long with many servers: prefer search_tools when you know what you need.",
  input: () => z.strictObject({ serverId: serverIdFilter() }),
  output: () => z.object({ tools: z.array(toolCard()) }),
  run: ({ serverId }, { catalog }, { client }) => {
    const { entries } = catalog.view(client).tools;
    const wanted = serverId === undefined ? entries : entries.filter((entry) => entry.serverId === serverId);
    return { tools: wanted.map(toolCardOf) };
  },
});

export const describeTool = defineMetaTool({
  name: "describe_tool",
  title: "Describe a tool",
  description:
    "Returns one tool's complete definition with the schema of its arguments, for a signature that has `…` or is not clear.",
  input: () => z.strictObject({ name: z.string().describe("As search_tools gives it.") }),
  run: async ({ name }, context, call) => {
    const own = context.catalog.view(call.client).local.find(({ value }) => value["name"] === name);
    if (own) return new JsonText(setMember(own.text, "serverId", '"goblin"'));
    const entry = await context.waiting.found((snapshot) => findTool(name, snapshot), {
      client: call.client,
      call,
    });
    return new JsonText(setMember(entry.text, "serverId", JSON.stringify(entry.serverId)));
  },
});

export const searchTools = defineMetaTool({
  name: "search_tools",
  title: "Search tools",
  description:
    "Finds tools by what they do, among all servers, best first, with the signatures of their arguments. Many tools are not in your own list: search here before you say that something cannot be done. Use call_tool to call one.",
  input: () => z.strictObject({ query: queryText(), serverId: serverIdFilter(), limit: limitCount() }),
  run: async ({ query, serverId, limit }, { search, catalog }, { client }) => {
    const found = await search.find(query, {
      kind: "tool",
      limit,
      viewer: client,
      ...(serverId !== undefined && { filter: (doc) => doc.serverId === serverId }),
    });
    const { tools: list } = catalog.view(client);
    const tools = found.flatMap((name) => list.find(name) ?? []).map(signedCardOf);
    return { tools, query, count: tools.length };
  },
});

/**
 * Returns the tool of that name. Otherwise throws the same error as a call would, with the nearest
 * names.
 */
export function findTool(name: string, snapshot: Snapshot) {
  const { tools, local } = snapshot;
  return orNearest(
    () => namedOrThrow("tool", snapshot, name),
    name,
    () => [...local.map(({ value }) => String(value["name"])), ...tools.entries.map(({ exposed }) => exposed)],
  );
}

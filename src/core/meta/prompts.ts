/**
 * The meta tools for the servers' prompts: list them, search them, look one up.
 */
import * as z from "zod";
import { setMember } from "../../lib/json/json-text.ts";
import { namedOrThrow } from "../../upstream/catalog/find-or-throw.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import { limitCount, promptCard, promptCardOf, queryText, serverIdFilter } from "./cards.ts";
import { defineMetaTool, JsonText } from "./define.ts";
import { orNearest } from "./did-you-mean.ts";

export const catalogPrompts = defineMetaTool({
  name: "catalog_prompts",
  title: "List all prompts",
  description: "Lists every prompt of all servers as a compact card with the names of its arguments.",
  input: () => z.strictObject({ serverId: serverIdFilter() }),
  output: () => z.object({ prompts: z.array(promptCard()) }),
  run: ({ serverId }, { catalog }, { client }) => {
    const { entries } = catalog.view(client).prompts;
    const wanted = serverId === undefined ? entries : entries.filter((entry) => entry.serverId === serverId);
    return { prompts: wanted.map(promptCardOf) };
  },
});

export const describePrompt = defineMetaTool({
  name: "describe_prompt",
  title: "Describe a prompt",
  description: "Returns the complete definition of one prompt: what it is for, and each argument.",
  input: () =>
    z.strictObject({ name: z.string().describe("The prompt's name, as in catalog_prompts or search_prompts.") }),
  output: () =>
    z.looseObject({
      name: z.string(),
      description: z.string(),
      arguments: z.array(z.looseObject({ name: z.string() })),
      serverId: z.string(),
    }),
  run: async ({ name }, { waiting }, call) => {
    const find = (snapshot: Snapshot) =>
      orNearest(
        () => namedOrThrow("prompt", snapshot, name),
        name,
        () => snapshot.prompts.entries.map(({ exposed }) => exposed),
      );
    const entry = await waiting.found(find, { client: call.client, call });
    const { value } = entry.definition;
    let text = setMember(entry.text, "serverId", JSON.stringify(entry.serverId));
    if (!Array.isArray(value["arguments"])) text = setMember(text, "arguments", "[]");
    if (typeof value["description"] !== "string") text = setMember(text, "description", '""');
    return new JsonText(text);
  },
});

export const searchPrompts = defineMetaTool({
  name: "search_prompts",
  title: "Search prompts",
  description: "Finds prompts by what they are for, among all servers, best first.",
  input: () => z.strictObject({ query: queryText(), serverId: serverIdFilter(), limit: limitCount() }),
  output: () => z.object({ prompts: z.array(promptCard()), query: z.string(), count: z.int() }),
  run: async ({ query, serverId, limit }, { search, catalog }, { client }) => {
    const found = await search.find(query, {
      kind: "prompt",
      limit,
      viewer: client,
      ...(serverId !== undefined && { filter: (doc) => doc.serverId === serverId }),
    });
    const { prompts: list } = catalog.view(client);
    const prompts = found.flatMap((name) => list.find(name) ?? []).map(promptCardOf);
    return { prompts, query, count: prompts.length };
  },
});

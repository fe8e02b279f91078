import { expect, test } from "vitest";
import { META_TOOL_NAMES } from "../../../src/config/schema/offerings.ts";
import { metaDefinitions } from "../../../src/core/meta/registry.ts";

test("every name of the config has its definition, and an unlisted one is left out", () => {
  const all = metaDefinitions(META_TOOL_NAMES).map(({ value }) => value["name"]);
  expect(all).toEqual([...META_TOOL_NAMES]);
  expect(all).toHaveLength(14);
  expect(metaDefinitions(["call_tool", "call_tool"])).toHaveLength(1);
});

test("what is listed is derived from the schemas", () => {
  const [search, call] = metaDefinitions(["search_prompts", "call_tool"]).map(({ text }) => JSON.parse(text));
  expect(search).toEqual({
    name: "search_prompts",
    title: "Search prompts",
    description: "Finds prompts by what they are for, among all servers, best first.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "What you are looking for, in your own words or as a name." },
        serverId: { type: "string", description: "Only those of this server." },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: 100,
          default: 10,
          description: "How many at most, best first.",
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        prompts: {
          type: "array",
          items: {
            type: "object",
            properties: {
              name: { type: "string" },
              description: { type: "string" },
              arguments: { type: "array", items: { type: "string" } },
              serverId: { type: "string" },
            },
            required: ["name", "description", "arguments", "serverId"],
          },
        },
        query: { type: "string" },
        count: { type: "integer" },
      },
      required: ["prompts", "query", "count"],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  });
  expect(call.outputSchema).toBeUndefined();
  expect(call.annotations).toEqual({
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  });
});

test("no schema holds an empty one, which strict clients reject", () => {
  for (const { text } of metaDefinitions([...META_TOOL_NAMES])) expect(text).not.toContain('"additionalProperties":{}');
});

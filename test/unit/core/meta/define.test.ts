/** Definitions of the gateway's own tools. */
import { expect, test, vi } from "vitest";
import * as z from "zod";
import { definitionOf } from "../../../../src/core/meta/define.ts";

const about = {
  name: "call_tool" as const,
  title: "Tool",
  description: "A tool.",
  annotations: { readOnlyHint: true },
};

test("a definition makes its schemas when they are read", () => {
  const input = vi.fn(() => z.object({ a: z.string() }));
  const { value } = definitionOf({ ...about, input });
  expect(value["name"]).toBe("call_tool");
  expect(input).not.toHaveBeenCalled();
  expect(value["inputSchema"]).toMatchObject({ properties: { a: { type: "string" } } });
});

test.each([
  ["without a schema of its results", undefined, ["name", "title", "description", "inputSchema", "annotations"]],
  [
    "with one",
    () => z.object({ b: z.string() }),
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations"],
  ],
])("the text of a definition %s", (_, output, members) => {
  const { text, value } = definitionOf({
    ...about,
    input: () => z.object({ a: z.string() }),
    ...(output && { output }),
  });
  expect(Object.keys(JSON.parse(text))).toEqual(members);
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
});

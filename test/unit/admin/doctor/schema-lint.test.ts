/** What model APIs refuse in a tool's schema. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { lintTool, schemaProblems } from "../../../../src/admin/doctor/schema-lint.ts";

const object = (properties: Record<string, unknown>, more: object = {}) => ({ type: "object", properties, ...more });
const deep = (levels: number): object => (levels === 0 ? { type: "string" } : object({ a: deep(levels - 1) }));

describe("each problem", () => {
  const cases: Record<keyof typeof schemaProblems, object> = {
    not_object: { properties: {} },
    output_not_object: object({}),
    top_level_union: object({ a: { type: "string" } }, { anyOf: [{ required: ["a"] }] }),
    property_name: object({ "uids[]": { type: "string" } }),
    unresolved_ref: object({ a: { $ref: "#/$defs/b" } }),
    remote_ref: object({ a: { $ref: "https://example.com/a.json" } }),
    recursive_ref: object(
      { a: { $ref: "#/$defs/node" } },
      { $defs: { node: object({ next: { $ref: "#/$defs/node" } }) } },
    ),
    old_draft: object({ a: { type: "array", items: [{ type: "string" }] } }),
    array_without_items: object({ a: { type: "array" } }),
    unknown_required: object({}, { required: ["a"] }),
    enum_not_string: object({ a: { type: "integer", enum: [1, 2] } }),
    untyped_property: object({ a: { description: "anything" } }),
    too_deep: deep(12),
  };

  test.each(Object.entries(cases))("%s is found, alone", (problem, inputSchema) => {
    const outputSchema = problem === "output_not_object" ? { description: "text" } : undefined;
    expect([...lintTool({ inputSchema, outputSchema })]).toEqual([problem]);
  });
});

test.each([
  [{ type: "object" }],
  [object({ a: { anyOf: [{ type: "string" }, { type: "null" }] } }, { required: ["a"] })],
  [object({ "a.b-c_1": { type: "array", items: { $ref: "#/$defs/b" } } }, { $defs: { b: { type: "string" } } })],
  [object({ a: { $ref: "#/definitions/b~1c" } }, { definitions: { "b/c": { type: "string" } } })],
  [object({ a: { $ref: "#word" }, b: { $ref: "#word" } }, { $defs: { w: { $anchor: "word", type: "string" } } })],
  [deep(10)],
])("%j is fine", (inputSchema) => {
  expect([...lintTool({ inputSchema, outputSchema: { type: "object" } })]).toEqual([]);
});

test("a schema that refers to itself everywhere does not take forever", () => {
  const all = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, { $ref: "#" }]));
  expect([...lintTool({ inputSchema: object(all) })]).toEqual(["recursive_ref"]);
  const chain = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [
      `d${i}`,
      { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
    ]),
  );
  const inputSchema = object({ a: { $ref: "#/$defs/d0" } }, { $defs: { ...chain, d30: { type: "string" } } });
  expect([...lintTool({ inputSchema })]).toEqual([]);
});

test("what is no schema at all is not an object", () => {
  expect([...lintTool({ inputSchema: 7 })]).toEqual(["not_object"]);
});

test("docs/doctor.md names every problem, and no other", () => {
  const text = readFileSync(new URL("../../../../docs/doctor.md", import.meta.url), "utf8");
  const named = [...text.matchAll(/`schema_(\w+)`/g)].map((match) => match[1]);
  expect(named).toEqual(Object.keys(schemaProblems));
});

import { expect, test } from "vitest";
import { typeName } from "../../../../src/mcp/protocol/schema-shape.ts";

test("a type with many branches that lead back to itself has a name of bounded length", () => {
  const schema = { anyOf: Array.from({ length: 30 }, () => ({ $ref: "#" })) };
  expect(typeName(schema, schema).length).toBeLessThan(30_000);
  expect(typeName({ anyOf: Array.from({ length: 10 }, () => ({ type: "string" })) }, {})).toBe(
    `${"string | ".repeat(8)}…`,
  );
});

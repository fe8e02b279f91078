import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { configJsonSchema } from "../../../src/config/schema/json-schema.ts";

interface Schema {
  description?: string;
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  items?: Schema;
}

test("schema/goblin.schema.json is current", () => {
  const file = new URL("../../../schema/goblin.schema.json", import.meta.url);
  const message = "run `npm run build`, which regenerates it with scripts/generate.js";
  expect(readFileSync(file, "utf8"), message).toBe(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
});

test("it knows the keys, their types and defaults", () => {
  const schema = configJsonSchema() as Schema;
  expect(schema.properties?.gateway?.properties?.port).toEqual({
    default: 3000,
    description: "The port to listen on; 0 picks a free one.",
    type: "integer",
    minimum: 0,
    maximum: 65535,
  });
  expect(schema.additionalProperties).toBe(false);
});

test("every key is described", () => {
  const bare: string[] = [];
  walk(configJsonSchema() as Schema, "");
  expect(bare).toEqual([]);

  function walk(schema: Schema, path: string): void {
    for (const [key, value] of Object.entries(schema.properties ?? {})) {
      const isForeign = path === ".inputs";
      if (value.description === undefined && !isForeign) bare.push(`${path}.${key}`);
      walk(value, `${path}.${key}`);
    }
    for (const branch of schema.anyOf ?? []) walk(branch, path);
    if (typeof schema.additionalProperties === "object") walk(schema.additionalProperties, path);
    if (schema.items !== undefined) walk(schema.items, path);
  }
});

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { parse } from "jsonc-parser";
import { expect, test } from "vitest";
import { configJsonSchema } from "../../../src/config/schema/json-schema.ts";
import { configObjectSource } from "../../../src/config/schema/object-source.ts";

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
    anyOf: [
      { type: "integer", minimum: 0, maximum: 65535 },
      { type: "string", pattern: "\\$\\{", description: "A text with ${env:NAME} in it." },
    ],
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

test("config-object.ts is current", () => {
  const file = new URL("../../../src/config/schema/config-object.ts", import.meta.url);
  expect(readFileSync(file, "utf8"), "run `npm run build`").toBe(configObjectSource());
});

test("it has a name of its own", () => {
  expect(configJsonSchema()).toMatchObject({ $id: "urn:goblin-mcp:config-schema" });
});

const golden = new URL("golden/", import.meta.url);
const has = (name: string, file: string): boolean => existsSync(new URL(`${name}/${file}`, golden));
/**
 * These files hold any settings of other programs, servers in other places, or removed keys, which
 * an editor should mark.
 */
const elsewhere = new Set(
  "agents amazon-q-agent amp claude-desktop crush gemini opencode removed-keys vscode-settings warp".split(" "),
);
const accepted = readdirSync(golden).filter(
  (name) => has(name, "expected.json") && !has(name, "errors.txt") && !elsewhere.has(name),
);

test.each(accepted)("it accepts what `goblin check` accepts: %s", (name) => {
  const text = readFileSync(new URL(`${name}/input.json`, golden), "utf8").replace(/^\uFEFF/, "");
  expect(problemsOf(parse(text, [], { allowTrailingComma: true }))).toEqual([]);
});

test("it accepts the example, which names it", () => {
  const text = readFileSync(new URL("../../../examples/goblin.json", import.meta.url), "utf8");
  expect(problemsOf(parse(text, [], { allowTrailingComma: true }))).toEqual([]);
});

test("it accepts keys of other programs and variables, and no others", () => {
  const entry = { command: "x", autoApprove: ["a"], alwaysAllow: [], timeout: 60, _comment: "mine" };
  expect(problemsOf({ globalShortcut: "Ctrl+Space", mcpServers: { one: entry } })).toEqual([]);
  expect(problemsOf({ mcpServers: [{ name: "one", command: "x" }] })).toEqual([]);
  expect(problemsOf({ gateway: { allowedOrigins: ["${env:ORIGIN}"] } })).toEqual([]);
  for (const wrong of [
    { gateway: { allowedOrigins: ["no origin"] } },
    { gateway: { port: "3000" } },
    { gateway: { port: 70_000 } },
    { log: { level: "loud" } },
    { mcpServers: { one: { command: "x", urll: "" } } },
    { mcpServer: {} },
  ]) {
    expect(problemsOf(wrong), JSON.stringify(wrong)).not.toEqual([]);
  }
});

const validate = new Ajv({ allErrors: true, strict: false }).compile(configJsonSchema());

/** What a validator that editors use says; empty if the value fits. */
function problemsOf(value: unknown): readonly unknown[] {
  validate(value);
  return validate.errors ?? [];
}

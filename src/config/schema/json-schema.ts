/**
 * The JSON Schema of the config file, for editors: derived from the zod schema, never written by
 * hand. It accepts what `goblin check` accepts: also the keys of other programs, and text with a
 * variable in it where the variable's value is what must fit.
 */
import * as z from "zod";
import { isRecord } from "../../lib/structures/record.ts";
import { type AcceptedKey, acceptedForeignKeys, foreignTypes } from "../dialects/foreign-keys.ts";
import { configFileSchema } from "./config.ts";

export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
}

export type Section = Schema & { readonly properties: Readonly<Record<string, Schema>> };

/** A name rather than an address: the file comes with the package. */
const ID = "urn:goblin-mcp:config-schema";
type JsonSchema = {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
};

const variable: JsonSchema = { type: "string", pattern: "\\$\\{", description: "A text with ${env:NAME} in it." };

/** Goblin's own keys alone, without other programs' names for them. */
export function ownKeys(): Section {
  // The schema is an object with properties; zod types it as plain JSON.
  return generated({ hasForeign: false }) as unknown as Section;
}

export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = generated({ hasForeign: true });
  const { file, server } = acceptedForeignKeys();
  const { properties } = schema as { properties: Record<string, JsonSchema & { additionalProperties?: object }> };
  for (const section of ["mcpServers", "servers"]) {
    allow(properties[section]?.additionalProperties, server);
    admitShapes(properties[section]?.additionalProperties);
    admitList(properties, section);
  }
  allow(schema, file);
  return {
    $schema,
    $id: ID,
    title: "Goblin config",
    description: "The config file of the Goblin MCP gateway.",
    ...admitVariables(schema),
  };
}

function generated({ hasForeign }: { readonly hasForeign: boolean }): Record<string, unknown> {
  const { "~standard": _standard, ...schema } = z.toJSONSchema(configFileSchema, {
    io: "input",
    target: "draft-7",
    override: ({ jsonSchema }) => {
      if (!jsonSchema.properties) return;
      for (const [key, value] of Object.entries(jsonSchema.properties)) {
        const { isForeign, ...property } = value as Record<string, unknown>;
        if (isForeign !== true) continue;
        if (hasForeign) jsonSchema.properties[key] = property;
        else delete jsonSchema.properties[key];
      }
    },
  }) as Record<string, unknown>;
  return schema;
}

function allow(schema: { properties?: Record<string, unknown> } | undefined, keys: readonly AcceptedKey[]): void {
  for (const { key, note } of keys) {
    if (schema?.properties && !Object.hasOwn(schema.properties, key)) schema.properties[key] = { description: note };
  }
}

/** Admits the values of other programs that are translated: null, lists, and names of types. */
function admitShapes(entry: { properties?: Record<string, JsonSchema> } | undefined): void {
  if (!entry?.properties) return;
  const other: Readonly<Record<string, readonly JsonSchema[]>> = {
    command: [{ type: "array", items: { type: "string" } }, { type: "object" }],
    tools: [{ type: "array", items: { type: "string" } }],
    auth: [{ const: "oauth" }],
    type: [{ enum: [...foreignTypes.keys()] }],
  };
  for (const [key, schema] of Object.entries(entry.properties)) {
    const { description, default: fallback, ...rest } = schema;
    // A key of another program takes any value.
    if (Object.keys(rest).length === 0) continue;
    entry.properties[key] = {
      ...(fallback !== undefined && { default: fallback }),
      ...(description !== undefined && { description }),
      anyOf: [rest, ...(other[key] ?? []), { type: "null" }],
    };
  }
}

/** Admits the servers as a list, each with its name. */
function admitList(properties: Record<string, JsonSchema>, section: string): void {
  const { description, default: fallback, ...byId } = properties[section] ?? {};
  const list = { type: "array", items: { type: "object", required: ["name"] } };
  properties[section] = { default: fallback, description, anyOf: [byId, list] };
}

/**
 * Lets a text with a variable stand wherever its value must fit: in place of numbers, booleans,
 * choices and texts of a certain form. The names of keys stay as written.
 */
function admitVariables(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf, additionalProperties, ...leaf } = schema;
  const inner: JsonSchema = {
    ...leaf,
    ...(properties && { properties: mapValues(properties, admitVariables) }),
    ...(items && { items: admitVariables(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: isRecord(additionalProperties)
        ? admitVariables(additionalProperties as JsonSchema)
        : additionalProperties,
    }),
  };
  if (anyOf) return { ...inner, anyOf: [...anyOf.map(admitNested), variable] };
  if (!isLimited(leaf)) return inner;
  const { description, default: fallback, ...limits } = inner;
  return {
    ...(fallback !== undefined && { default: fallback }),
    ...(description !== undefined && { description }),
    anyOf: [limits, variable],
  };
}

/** A branch needs no variable of its own if its union has one. */
function admitNested(branch: JsonSchema): JsonSchema {
  return isLimited(branch) ? branch : admitVariables(branch);
}

/** Returns whether the schema is a plain value that not every text is. */
function isLimited({ type, enum: choices, const: constant, ...rest }: JsonSchema): boolean {
  if (choices !== undefined || constant !== undefined) return true;
  if (type === "string") return "pattern" in rest || "maxLength" in rest;
  return type === "number" || type === "integer" || type === "boolean";
}

function mapValues<Value>(record: Readonly<Record<string, Value>>, change: (value: Value) => Value) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

/**
 * The JSON Schema of the config file, for editors: derived from the zod schema, never written by
 * hand. It accepts what `goblin check` accepts: also the keys of other programs, and text with a
 * variable in it where the variable's value is what must fit.
 */
import * as z from "zod";
import { type AcceptedKey, acceptedForeignKeys } from "../reading/formats.ts";
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
/** Text with a variable in it. */
const VARIABLE = "\\$\\{";

/** Goblin's own keys alone. */
export function ownKeys(): Section {
  // The schema is an object with properties; zod types it as plain JSON.
  return generated() as unknown as Section;
}

export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = generated();
  const { file, server } = acceptedForeignKeys();
  const { properties } = schema as { properties: Record<string, { additionalProperties?: object }> };
  for (const section of ["mcpServers", "servers"]) allow(properties[section]?.additionalProperties, server);
  allow(schema, file);
  admitVariables(schema);
  return {
    $schema,
    $id: ID,
    title: "Goblin config",
    description: "The config file of the Goblin MCP gateway.",
    ...schema,
  };
}

function generated(): Record<string, unknown> {
  const { "~standard": _standard, ...schema } = z.toJSONSchema(configFileSchema, {
    io: "input",
    target: "draft-7",
  }) as Record<string, unknown>;
  return schema;
}

function allow(schema: { properties?: Record<string, unknown> } | undefined, keys: readonly AcceptedKey[]): void {
  for (const { key, note } of keys) {
    if (schema?.properties && !Object.hasOwn(schema.properties, key)) schema.properties[key] = { description: note };
  }
}

/** The pattern of a text holds for what the text becomes; the names of keys stay as written. */
function admitVariables(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const schema = value as Record<string, unknown>;
  if (typeof schema["pattern"] === "string") schema["pattern"] = `${schema["pattern"]}|${VARIABLE}`;
  for (const [key, below] of Object.entries(schema)) if (key !== "propertyNames") admitVariables(below);
}

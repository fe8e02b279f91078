/**
 * Formats a JSON Schema as an indented outline: one row for each property, with type, limits and
 * description.
 *
 * Invariant: the depth is limited, so the outline of a recursive schema ends.
 */

import { isRecord } from "../../lib/structures/record.ts";
import {
  type JsonSchema,
  propertiesOf,
  requiredOf,
  resolveSchema,
  typeName,
  typeOf,
} from "../../mcp/protocol/schema-shape.ts";

export interface OutlineRow {
  readonly depth: number;
  readonly name: string;
  readonly required: boolean;
  readonly type: string;
  readonly limits: string;
  readonly description: string;
}

const deepest = 5;

export function outline(schema: JsonSchema): OutlineRow[] {
  return rowsOf(resolveSchema(schema, schema), schema, 0);
}

function rowsOf(schema: JsonSchema, root: JsonSchema, depth: number): OutlineRow[] {
  const required = requiredOf(schema);
  return propertiesOf(schema).flatMap(([name, value]) => {
    const property = resolveSchema(value, root);
    const row = {
      depth,
      name,
      required: required.has(name),
      type: typeName(property, root),
      limits: limitsOf(property),
      description: typeof property.description === "string" ? property.description : "",
    };
    return [row, ...(depth < deepest ? childrenOf(property, root, depth + 1) : [])];
  });
}

function childrenOf(schema: JsonSchema, root: JsonSchema, depth: number): OutlineRow[] {
  if (typeOf(schema) === "array") return rowsOf(resolveSchema(schema.items, root), root, depth);
  return rowsOf(schema, root, depth);
}

const limitNames = [
  ["minimum", "≥ "],
  ["exclusiveMinimum", "> "],
  ["maximum", "≤ "],
  ["exclusiveMaximum", "< "],
  ["minLength", "length ≥ "],
  ["maxLength", "length ≤ "],
  ["minItems", "items ≥ "],
  ["maxItems", "items ≤ "],
  ["format", "format "],
  ["pattern", "pattern "],
] as const;

export function limitsOf(schema: JsonSchema): string {
  const parts = limitNames
    .filter(([key]) => ["number", "string"].includes(typeof schema[key]))
    .map(([key, words]) => `${words}${schema[key]}`);
  if (schema.default !== undefined) parts.push(`default ${JSON.stringify(schema.default)}`);
  if (isRecord(schema.additionalProperties)) parts.push("any other keys");
  return parts.join(", ");
}

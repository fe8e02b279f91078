/**
 * Reads a tool's JSON Schema for display: resolves local references, drops the "or null" branch,
 * and names the type.
 *
 * Invariant: any JSON value is a valid input, since a server wrote it, and a schema that refers to
 * itself terminates.
 */
import { isRecord } from "../../lib/structures/record.ts";

/** The maximum number of branches of a schema that are named. */
const SHOWN = 8;

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Follows `$ref` inside the document and picks the only branch that is not null. */
export function resolveSchema(value: unknown, root: JsonSchema): JsonSchema {
  let schema: JsonSchema = isRecord(value) ? value : {};
  for (let hops = 0; hops < 16; hops += 1) {
    const next = target(schema, root) ?? onlyBranch(schema);
    if (next === undefined) return schema;
    const { $ref: _ref, anyOf: _any, oneOf: _one, ...own } = schema;
    schema = { ...next, ...own };
  }
  return schema;
}

export function propertiesOf(schema: JsonSchema): [name: string, value: unknown][] {
  return isRecord(schema.properties) ? Object.entries(schema.properties) : [];
}

export function requiredOf(schema: JsonSchema): ReadonlySet<string> {
  const required = schema.required;
  return new Set(Array.isArray(required) ? required.filter((name) => typeof name === "string") : []);
}

/** Returns the type without `null`; undefined if the schema names no type, or several. */
export function typeOf(schema: JsonSchema): string | undefined {
  const { type } = schema;
  if (typeof type === "string") return type;
  const names = Array.isArray(type) ? type.filter((name) => name !== "null") : [];
  if (names.length === 1 && typeof names[0] === "string") return names[0];
  if (names.length > 1) return undefined;
  return isRecord(schema.properties) ? "object" : undefined;
}

export function enumOf(schema: JsonSchema): readonly unknown[] | undefined {
  if (schema.const !== undefined) return [schema.const];
  const values = schema.enum;
  return Array.isArray(values) && values.length > 0 ? values : undefined;
}

/** Returns a type as display text: `string`, `integer[]`, `string | number`, `"a" | "b"`. */
export function typeName(schema: JsonSchema, root: JsonSchema, depth = 0): string {
  const values = enumOf(schema);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" | ");
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) {
    if (depth > 3) return "…";
    const names = branches.slice(0, SHOWN).map((branch) => typeName(resolveSchema(branch, root), root, depth + 1));
    return [...names, ...(branches.length > SHOWN ? ["…"] : [])].join(" | ");
  }
  const type = typeOf(schema);
  if (type === "array") {
    const item = depth > 3 ? "…" : typeName(resolveSchema(schema.items, root), root, depth + 1);
    return item.includes(" ") ? `(${item})[]` : `${item}[]`;
  }
  if (type !== undefined) return type;
  return Array.isArray(schema.type) ? schema.type.join(" | ") : "any";
}

function target(schema: JsonSchema, root: JsonSchema): JsonSchema | undefined {
  const ref = schema.$ref;
  if (typeof ref !== "string" || !ref.startsWith("#")) return undefined;
  let value: unknown = root;
  for (const part of ref.slice(1).split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return isRecord(value) ? value : undefined;
}

function onlyBranch(schema: JsonSchema): JsonSchema | undefined {
  const branches = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(branches)) return undefined;
  const real = branches.filter((branch) => isRecord(branch) && branch.type !== "null");
  return real.length === 1 ? real[0] : undefined;
}

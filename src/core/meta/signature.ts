/**
 * The compact signature of a tool: its arguments as one line of TypeScript, so that a model can
 * often call the tool without reading its whole schema.
 *
 * Whatever a line cannot hold is shown as `…`: then `describe_tool` has the rest. Required
 * arguments come first; `?` marks the others.
 */
import { isRecord } from "../../lib/structures/record.ts";

const MAX_ARGUMENTS = 20;
const MAX_TYPE_LENGTH = 80;
const MAX_DEPTH = 2;

/** `inputSchema` is a server's: it may be anything. */
export function signatureOf(inputSchema: unknown): string {
  return membersOf(inputSchema, 0) ?? "(…)";
}

function membersOf(schema: unknown, depth: number): string | undefined {
  if (!isRecord(schema)) return undefined;
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const names = Object.keys(properties);
  const ordered = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))];
  const shown = ordered.slice(0, MAX_ARGUMENTS).map((name) => {
    const mark = required.has(name) ? "" : "?";
    return `${nameOf(name)}${mark}: ${typeOf(properties[name], depth)}`;
  });
  const isCut = ordered.length > shown.length || ["anyOf", "oneOf", "allOf", "$ref"].some((key) => key in schema);
  const [open, close] = depth === 0 ? ["(", ")"] : ["{ ", " }"];
  return `${open}${[...shown, ...(isCut ? ["…"] : [])].join(", ")}${close}`;
}

function nameOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function typeOf(schema: unknown, depth: number): string {
  const type = isRecord(schema) ? rawType(schema, depth) : "…";
  return type.length > MAX_TYPE_LENGTH ? "…" : type;
}

function rawType(schema: Readonly<Record<string, unknown>>, depth: number): string {
  const { type, const: only, enum: values, anyOf, oneOf } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  const choices = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(choices)) return choices.map((choice) => typeOf(choice, depth)).join(" | ");
  if (Array.isArray(type)) return type.map((one) => rawType({ ...schema, type: one }, depth)).join(" | ");
  if (type === "array") return arrayOf(typeOf(schema["items"], depth));
  if (type === "object") return objectType(schema, depth);
  if (type === "integer") return "integer";
  return typeof type === "string" ? type : "…";
}

function arrayOf(item: string): string {
  return /^[\w…]+$/.test(item) ? `${item}[]` : `(${item})[]`;
}

function objectType(schema: Readonly<Record<string, unknown>>, depth: number): string {
  if (!isRecord(schema["properties"])) return "object";
  return depth + 1 < MAX_DEPTH ? (membersOf(schema, depth + 1) ?? "{ … }") : "{ … }";
}

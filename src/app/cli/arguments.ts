/**
 * Converts `key=value` words to a tool's arguments by its JSON schema: numbers, booleans, enums,
 * JSON or text. `key:=value` is JSON whatever the schema says, and `key=@file` takes the value from
 * a file. Pure. A value that does not fit is a `UsageError` that names the argument and the
 * expected type.
 */

import { isRecord } from "../../lib/structures/record.ts";
import { nearestWord } from "../../lib/text/nearest/nearest-word.ts";
import {
  enumOf,
  type JsonSchema,
  propertiesOf,
  requiredOf,
  resolveSchema,
  typeName,
  typeOf,
} from "../../mcp/protocol/schema-shape.ts";
import { UsageError } from "./usage-error.ts";

export interface ArgumentWords {
  readonly pairs: readonly string[];
  /** The value of --args. */
  readonly json: string | undefined;
  /** Returns the text of a file, or of stdin for "-". Without it, @ is nothing special. */
  readonly read?: ((source: string, key: string) => string) | undefined;
}

export function buildArguments({ pairs, json, read }: ArgumentWords, schema: JsonSchema): Record<string, unknown> {
  const root = resolveSchema(schema, schema);
  const result: Record<string, unknown> = json === undefined ? {} : readObject(json);
  const properties = new Map(propertiesOf(root));
  for (const [written, value] of pairs.map((word) =>
    splitPair(word, () => takes("tool", toolArguments(root, schema))),
  )) {
    const isJson = written.length > 1 && written.endsWith(":") && !properties.has(written);
    const key = isJson ? written.slice(0, -1) : written;
    const text = read && /^@./.test(value) ? read(value.slice(1), key) : value;
    const declared = properties.get(key);
    if (declared === undefined && properties.size > 0 && !isOpen(root)) throw unknownKey(key, [...properties.keys()]);
    const property = resolveSchema(declared, schema);
    if (isJson) {
      result[key] = readJson(text, `${key}:=`);
      continue;
    }
    const converted = convertText({ key, text, root: schema }, property);
    const before = result[key];
    const isMore = typeOf(property) === "array" && Array.isArray(before);
    // A list may be given one element at a time.
    result[key] = isMore ? [...before, ...(converted as unknown[])] : converted;
  }
  const missing = [...requiredOf(root)].filter((name) => !Object.hasOwn(result, name));
  if (missing.length > 0) {
    const wanted = missing.map((name) => `${name}=<${typeName(resolveSchema(properties.get(name), schema), schema)}>`);
    throw new UsageError(`missing: ${wanted.join(" ")}`);
  }
  return result;
}

interface Wanted {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
}

export interface PromptArgument {
  readonly name: string;
  readonly required?: boolean | undefined;
}

/** Returns a prompt's arguments, which are all text. */
export function promptArguments(pairs: readonly string[], known: readonly PromptArgument[]): Record<string, string> {
  const wanted = known.map(({ name, required }) => ({ name, type: "string", required: required === true }));
  return Object.fromEntries(pairs.map((word) => splitPair(word, () => takes("prompt", wanted))));
}

function splitPair(word: string, hint: () => string): [string, string] {
  const at = word.indexOf("=");
  if (at < 1) throw new UsageError(`"${word}" is not key=value; ${hint()}`);
  return [word.slice(0, at), word.slice(at + 1)];
}

function toolArguments(root: JsonSchema, schema: JsonSchema): Wanted[] {
  const required = requiredOf(root);
  return propertiesOf(root).map(([name, value]) => ({
    name,
    type: typeName(resolveSchema(value, schema), schema),
    required: required.has(name),
  }));
}

/** Describes the arguments: required ones first, optional ones in brackets. */
function takes(what: "tool" | "prompt", wanted: readonly Wanted[]): string {
  if (wanted.length === 0) return `the ${what} takes no arguments`;
  const ordered = [...wanted].sort((a, b) => Number(b.required) - Number(a.required));
  const allOptional = wanted.every(({ required }) => !required);
  const shown = ordered.map(({ name, type, required }) => {
    const pair = `${name}=<${type}>`;
    return required || allOptional ? pair : `[${pair}]`;
  });
  return `the ${what} takes ${shown.join(" ")}`;
}

function readJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${what} is not JSON: ${(error as Error).message}`);
  }
}

function readObject(json: string): Record<string, unknown> {
  const value = readJson(json, "--args");
  if (!isRecord(value)) throw new UsageError("--args must be a JSON object");
  return { ...value };
}

function isOpen({ additionalProperties }: JsonSchema): boolean {
  return additionalProperties === true || isRecord(additionalProperties);
}

function unknownKey(key: string, known: readonly string[]): UsageError {
  const meant = nearestWord(key, known);
  const hint = meant === undefined ? `it takes ${known.join(", ")}` : `did you mean "${meant}"?`;
  return new UsageError(`the tool has no argument "${key}" (${hint})`);
}

/** A value as it was typed, and the schema that references in its own schema lead into. */
export interface Word {
  readonly key: string;
  readonly text: string;
  readonly root: JsonSchema;
}

/** Converts a text to the schema's type. @throws UsageError that names the expected type */
export function convertText(word: Word, schema: JsonSchema): unknown {
  const { key, text } = word;
  const wrong = (what: string): UsageError => new UsageError(`${key}=${text}: expected ${what}`);
  const allowed = enumOf(schema);
  if (allowed) {
    const found = allowed.find((value) => value === text || JSON.stringify(value) === text);
    if (found === undefined) throw wrong(allowed.map((value) => JSON.stringify(value)).join(" or "));
    return found;
  }
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) return firstFitting(branches, word) ?? loose(text);
  switch (typeOf(schema)) {
    case "string":
      return text;
    case "number":
    case "integer": {
      const number = text.trim() === "" ? Number.NaN : Number(text);
      if (!Number.isFinite(number)) throw wrong("a number");
      if (typeOf(schema) === "integer" && !Number.isInteger(number)) throw wrong("a whole number");
      return number;
    }
    case "boolean":
      if (text !== "true" && text !== "false") throw wrong("true or false");
      return text === "true";
    case "null":
      return null;
    case "array":
      return toArray(word, schema);
    case "object": {
      const value = loose(text);
      if (!isRecord(value)) throw wrong("a JSON object");
      return value;
    }
    default:
      return loose(text);
  }
}

/** Accepts a whole list as JSON, or one element of it. */
function toArray(word: Word, schema: JsonSchema): unknown[] {
  const { key, text, root } = word;
  if (text.trimStart().startsWith("[")) {
    const value = loose(text);
    if (!Array.isArray(value)) throw new UsageError(`${key}=${text}: expected a JSON array`);
    return value;
  }
  return text === "" ? [] : [convertText(word, resolveSchema(schema.items, root))];
}

/** Tries text last, because text fits everything. */
function firstFitting(branches: readonly unknown[], word: Word): unknown {
  const { key, text, root } = word;
  const schemas = branches.map((branch) => resolveSchema(branch, root));
  const ordered = [...schemas].sort((a, b) => Number(typeOf(a) === "string") - Number(typeOf(b) === "string"));
  for (const schema of ordered) {
    if (typeOf(schema) === "null" && text !== "null") continue;
    try {
      return convertText(word, schema);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
    }
  }
  throw new UsageError(`${key}=${text}: expected ${ordered.map((schema) => typeName(schema, root)).join(" or ")}`);
}

/** Parses JSON; other text stays text. */
function loose(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Finds what model APIs and clients refuse in tools' schemas although MCP allows it. One such tool
 * often breaks every request of a session, because APIs validate all tools together.
 *
 * Facts: errors that the APIs of Anthropic, OpenAI and Gemini answered in 2025 and 2026.
 */
import { isRecord } from "../../lib/structures/record.ts";

/** What is wrong, and who minds. The order is the one in which problems are shown. */
export const schemaProblems = {
  not_object: 'the input schema has no "type": "object"; clients and all APIs refuse it',
  output_not_object: 'the output schema has no "type": "object"; clients with the official SDK lose the whole list',
  top_level_union: "oneOf, anyOf or allOf at the top of the input schema; Anthropic and OpenAI refuse it",
  property_name: "a property's name does not match ^[a-zA-Z0-9_.-]{1,64}$; Anthropic refuses it",
  unresolved_ref: "a $ref leads nowhere",
  remote_ref: "a $ref leads to another document, which no API reads",
  recursive_ref: "a $ref contains itself; Gemini and clients that expand references refuse it",
  old_draft: "a form of an old JSON Schema draft (a list of items, a boolean limit); Anthropic and OpenAI refuse it",
  array_without_items: "an array without items; OpenAI and Gemini refuse it",
  unknown_required: "a required property that is not declared; Gemini refuses it",
  enum_not_string: "an enum of a type other than string; Gemini refuses it",
  untyped_property: "a property without a type; Gemini CLI skips the tool",
  too_deep: "more than ten levels deep; OpenAI's strict mode refuses it",
} as const;

export type SchemaProblem = keyof typeof schemaProblems;

type Schema = Readonly<Record<string, unknown>>;

const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const UNIONS = ["oneOf", "anyOf", "allOf"] as const;
/** Any of these says what a value is, like `type`. */
const TYPINGS = ["type", "$ref", "const", "enum", ...UNIONS, "properties", "items", "if", "not"];
const MAX_DEPTH = 10;
/** A schema that is larger is examined in part. */
const MAX_NODES = 20_000;

export interface LintedTool {
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
}

export function lintTool({ inputSchema, outputSchema }: LintedTool): ReadonlySet<SchemaProblem> {
  const found = new Set<SchemaProblem>();
  const input = isRecord(inputSchema) ? inputSchema : {};
  if (input["type"] !== "object") found.add("not_object");
  if (UNIONS.some((key) => key in input)) found.add("top_level_union");
  const { properties } = input;
  if (isRecord(properties) && !Object.keys(properties).every((name) => PROPERTY_NAME.test(name)))
    found.add("property_name");
  if (outputSchema !== undefined && (!isRecord(outputSchema) || outputSchema["type"] !== "object"))
    found.add("output_not_object");
  new Walk(input, found).visit(input, 0);
  return found;
}

class Walk {
  readonly #root: Schema;
  readonly #found: Set<SchemaProblem>;
  readonly #open = new Set<Schema>();
  #nodes = 0;

  constructor(root: Schema, found: Set<SchemaProblem>) {
    this.#root = root;
    this.#found = found;
  }

  /** `depth`: how many objects and arrays the value is inside of. */
  visit(schema: unknown, depth: number): void {
    if (!isRecord(schema) || this.#nodes++ > MAX_NODES) return;
    if (this.#open.has(schema)) {
      this.#found.add("recursive_ref");
      return;
    }
    if (depth > MAX_DEPTH) {
      this.#found.add("too_deep");
      return;
    }
    this.#open.add(schema);
    this.#look(schema);
    const { $ref, items, properties } = schema;
    if (typeof $ref === "string") this.#follow($ref, depth);
    for (const key of UNIONS) if (Array.isArray(schema[key])) for (const one of schema[key]) this.visit(one, depth);
    for (const one of Array.isArray(items) ? items : [items]) this.visit(one, depth + 1);
    if (isRecord(properties)) {
      for (const one of Object.values(properties)) {
        if (isRecord(one) && !TYPINGS.some((key) => key in one)) this.#found.add("untyped_property");
        this.visit(one, depth + 1);
      }
    }
    this.visit(schema["additionalProperties"], depth + 1);
    this.#open.delete(schema);
  }

  #look(schema: Schema): void {
    const { type, items, properties, required } = schema;
    if (type === "array" && items === undefined && schema["prefixItems"] === undefined)
      this.#found.add("array_without_items");
    const limits = [schema["exclusiveMinimum"], schema["exclusiveMaximum"]];
    if (Array.isArray(items) || limits.some((limit) => typeof limit === "boolean") || typeof required === "boolean")
      this.#found.add("old_draft");
    if (Array.isArray(schema["enum"]) && typeof type === "string" && type !== "string")
      this.#found.add("enum_not_string");
    // A branch of a union may name properties that stand outside of it.
    if (Array.isArray(required) && isRecord(properties) && !UNIONS.some((key) => key in schema)) {
      if (required.some((name) => !Object.hasOwn(properties, String(name)))) this.#found.add("unknown_required");
    }
  }

  #follow(ref: string, depth: number): void {
    if (!ref.startsWith("#")) {
      this.#found.add("remote_ref");
      return;
    }
    const target = this.#at(ref);
    if (isRecord(target)) this.visit(target, depth);
    else if (typeof target !== "boolean") this.#found.add("unresolved_ref");
  }

  /** A pointer (`#/$defs/x`) or an anchor (`#x`) of the root's definitions. */
  #at(ref: string): unknown {
    if (ref === "#") return this.#root;
    if (!ref.startsWith("#/")) {
      const definitions = [this.#root["$defs"], this.#root["definitions"]].flatMap((one) =>
        isRecord(one) ? Object.values(one) : [],
      );
      return definitions.find((one) => isRecord(one) && one["$anchor"] === ref.slice(1));
    }
    return ref
      .slice(2)
      .split("/")
      .map((part) => decoded(part).replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>((at, part) => {
        if (Array.isArray(at)) return at[Number(part)];
        return isRecord(at) && Object.hasOwn(at, part) ? at[part] : undefined;
      }, this.#root);
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Forms: fields from a JSON Schema, or from a prompt's arguments, text editing, validation,
 * arguments.
 *
 * Invariant: `checkForm` returns arguments only if no field has an error; empty optional fields are
 * omitted. Patterns are not checked here: a server's regular expression could run for minutes, and
 * the server checks it anyway.
 */

import { isRecord } from "../../lib/structures/record.ts";
import { parseTemplate } from "../../lib/uri-template/template.ts";
import {
  enumOf,
  type JsonSchema,
  propertiesOf,
  requiredOf,
  resolveSchema,
  typeName,
  typeOf,
} from "../../mcp/protocol/schema-shape.ts";
import type { PromptRow } from "../api/schema.ts";
import { limitsOf } from "./schema-outline.ts";

type FieldKind = "string" | "number" | "integer" | "boolean" | "enum" | "json";

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
  /** The choices of an enum or boolean as JSON text; the empty one omits the argument. */
  readonly options: readonly string[];
  readonly schema: JsonSchema;
  readonly text: string;
  /** The caret's position in `text`. */
  readonly caret: number;
  readonly error: string | undefined;
  /** What the value must look like, in words, for people to know beforehand. */
  readonly wants: string;
  /** Whether the server may suggest values, and what it suggested for the text. */
  readonly completes: boolean;
  readonly suggestions: readonly string[];
}

/** Fields to fill in, and a button below them. */
export interface Fields {
  readonly fields: readonly Field[];
  /** The focused field; from `fields.length` on, the buttons. */
  readonly focus: number;
  /** The number of buttons; 1 by default. */
  readonly buttons?: number;
  /** One field holds the whole arguments object, because the schema names no properties. */
  readonly whole: boolean;
}

/** Returns a field per argument. */
export function promptFields(prompt: PromptRow): Fields {
  const fields = prompt.arguments.map(({ name, description = "", required = false }) => ({
    ...createField(name, { type: "string", description }, { root: {}, required }),
    completes: true,
  }));
  return { fields, focus: 0, whole: false };
}

/** Returns a field per variable; none for a template that cannot be parsed. */
export function templateFields(template: string): Fields {
  const parsed = parseTemplate(template);
  const parts = parsed.ok ? parsed.template.parts : [];
  const names = parts.flatMap((part) => (part.kind === "expression" ? part.variables.map(({ name }) => name) : []));
  const fields = [...new Set(names)].map((name) => ({
    ...createField(name, { type: "string" }, { root: {}, required: false }),
    completes: true,
  }));
  return { fields, focus: 0, whole: false };
}

/** Returns the fields for the properties of a schema. */
export function fieldsOf(root: JsonSchema): Fields {
  const schema = resolveSchema(root, root);
  const required = requiredOf(schema);
  const named = propertiesOf(schema).map(([name, value]) =>
    createField(name, resolveSchema(value, root), { root, required: required.has(name) }),
  );
  const composed = ["anyOf", "oneOf", "allOf"].some((key) => Array.isArray(schema[key]));
  const open = isRecord(schema.additionalProperties) || schema.additionalProperties === true;
  const whole = named.length === 0 && (composed || open);
  const fields = whole ? [createField("arguments", { type: "object" }, { root, required: false })] : named;
  return { fields, focus: 0, whole };
}

function createField(name: string, schema: JsonSchema, about: { root: JsonSchema; required: boolean }): Field {
  const kind = kindOf(schema);
  const options = optionsOf(kind, schema, about.required);
  const text = startText(kind, schema, options);
  return {
    name,
    kind,
    type: kind === "enum" ? "choice" : typeName(schema, about.root),
    required: about.required,
    description: typeof schema.description === "string" ? schema.description : "",
    options,
    schema,
    text,
    caret: text.length,
    error: undefined,
    wants: wantsOf(kind, schema),
    completes: false,
    suggestions: [],
  };
}

function wantsOf(kind: FieldKind, schema: JsonSchema): string {
  const type = typeOf(schema);
  const json =
    kind !== "json" ? "" : type === "array" ? 'JSON: ["a", "b"]' : type === "object" ? 'JSON: {"a": 1}' : "JSON";
  return [json, limitsOf(schema)].filter((part) => part !== "").join(", ");
}

function kindOf(schema: JsonSchema): FieldKind {
  if (enumOf(schema) !== undefined) return "enum";
  const type = typeOf(schema);
  return type === "string" || type === "number" || type === "integer" || type === "boolean" ? type : "json";
}

function optionsOf(kind: FieldKind, schema: JsonSchema, required: boolean): string[] {
  if (kind !== "enum" && kind !== "boolean") return [];
  const values = kind === "boolean" ? [true, false] : (enumOf(schema) ?? []);
  const texts = values.map((value) => JSON.stringify(value));
  return required ? texts : ["", ...texts];
}

function startText(kind: FieldKind, schema: JsonSchema, options: readonly string[]): string {
  const preset = schema.default;
  if (preset === undefined) return options[0] ?? "";
  if (kind === "string") return typeof preset === "string" ? preset : "";
  const text = JSON.stringify(preset);
  return options.length === 0 || options.includes(text) ? text : (options[0] ?? "");
}

export type FormEdit =
  | { readonly type: "focus"; readonly by: number }
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "erase"; readonly what: "before" | "after" | "all" | "word" }
  | { readonly type: "suggest" }
  | { readonly type: "caret"; readonly to: "left" | "right" | "start" | "end" };

/** Returns the form after a key; on a choice, left, right and space cycle through the options. */
export function editForm<Form extends Fields>(form: Form, edit: FormEdit): Form {
  if (edit.type === "focus") {
    const places = form.fields.length + (form.buttons ?? 1);
    return { ...form, focus: (form.focus + edit.by + places) % places };
  }
  const field = form.fields[form.focus];
  if (field === undefined) return form;
  const changed = field.options.length > 0 ? editChoice(field, edit) : editText(field, edit);
  return { ...form, fields: form.fields.map((old, index) => (index === form.focus ? changed : old)) };
}

function editChoice(field: Field, edit: FormEdit): Field {
  const step =
    edit.type === "caret" ? (edit.to === "left" ? -1 : 1) : edit.type === "insert" && edit.text === " " ? 1 : 0;
  const first = edit.type === "insert" ? edit.text.toLowerCase() : undefined;
  const count = field.options.length;
  const at = field.options.indexOf(field.text);
  // A letter jumps to the next option that starts with it: t for true, f for false.
  const jump = first === undefined || first === " " ? -1 : nextWith(field.options, at, first);
  const next = step !== 0 ? (at + step + count) % count : jump >= 0 ? jump : at;
  return { ...field, text: field.options[next] ?? "", error: undefined };
}

function nextWith(options: readonly string[], from: number, letter: string): number {
  for (let step = 1; step <= options.length; step += 1) {
    const index = (from + step) % options.length;
    if (options[index]?.replace(/^"/, "").toLowerCase().startsWith(letter)) return index;
  }
  return -1;
}

function editText(field: Field, edit: FormEdit): Field {
  const { text, caret } = field;
  const put = (next: string, at: number): Field => ({
    ...field,
    text: next,
    caret: at,
    error: undefined,
    suggestions: [],
  });
  switch (edit.type) {
    case "insert":
      return put(text.slice(0, caret) + edit.text + text.slice(caret), caret + edit.text.length);
    case "erase":
      if (edit.what === "all") return put("", 0);
      if (edit.what === "after") return put(text.slice(0, caret) + text.slice(after(text, caret)), caret);
      if (edit.what === "before")
        return put(text.slice(0, before(text, caret)) + text.slice(caret), before(text, caret));
      return eraseWord(field, put);
    case "caret":
      if (edit.to === "start") return { ...field, caret: 0 };
      if (edit.to === "end") return { ...field, caret: text.length };
      return { ...field, caret: edit.to === "left" ? before(text, caret) : after(text, caret) };
    case "suggest": {
      const next = field.suggestions[(field.suggestions.indexOf(text) + 1) % Math.max(1, field.suggestions.length)];
      return next === undefined ? field : { ...field, text: next, caret: next.length, error: undefined };
    }
    case "focus":
      return field;
  }
}

function eraseWord({ text, caret }: Field, put: (next: string, at: number) => Field): Field {
  const kept = text.slice(0, caret).replace(/\S*\s*$/, "");
  return put(kept + text.slice(caret), kept.length);
}

// The caret never stops inside a surrogate pair.
const before = (text: string, caret: number): number =>
  Math.max(0, caret - (/[\udc00-\udfff]/.test(text[caret - 1] ?? "") ? 2 : 1));
const after = (text: string, caret: number): number =>
  Math.min(text.length, caret + (/[\ud800-\udbff]/.test(text[caret] ?? "") ? 2 : 1));

export type Checked<Form extends Fields> =
  | { readonly ok: true; readonly arguments: Record<string, unknown> }
  | { readonly ok: false; readonly form: Form };

/** Returns the arguments, or the form with errors and the focus on the first invalid field. */
export function checkForm<Form extends Fields>(form: Form): Checked<Form> {
  const values: [string, unknown][] = [];
  const fields = form.fields.map((field) => {
    const result = readField(field);
    if ("value" in result) values.push([field.name, result.value]);
    return { ...field, error: "error" in result ? result.error : undefined };
  });
  const wrong = fields.findIndex((field) => field.error !== undefined);
  if (wrong >= 0) return { ok: false, form: { ...form, fields, focus: wrong } };
  const whole = form.whole ? values[0]?.[1] : undefined;
  return { ok: true, arguments: form.whole ? (isRecord(whole) ? whole : {}) : Object.fromEntries(values) };
}

type Reading = { readonly value: unknown } | { readonly error: string } | { readonly absent: true };

function readField(field: Field): Reading {
  const { kind, text, schema } = field;
  if (text === "" && !(kind === "string" && field.required && schema.minLength === 0)) {
    return field.required ? { error: "required" } : { absent: true };
  }
  if (kind === "string") return checkLength(text, schema);
  if (kind === "number" || kind === "integer") return checkNumber(text, kind, schema);
  const value = parse(text);
  if (value === undefined) return { error: "not valid JSON" };
  const type = typeOf(schema);
  if (type === "array" && !Array.isArray(value)) return { error: "a JSON array is needed: […]" };
  if (type === "object" && !isRecord(value)) return { error: "a JSON object is needed: {…}" };
  return { value };
}

function checkLength(text: string, { minLength, maxLength }: JsonSchema): Reading {
  const length = [...text].length;
  if (typeof minLength === "number" && length < minLength) return { error: `at least ${minLength} characters` };
  if (typeof maxLength === "number" && length > maxLength) return { error: `at most ${maxLength} characters` };
  return { value: text };
}

function checkNumber(text: string, kind: "number" | "integer", schema: JsonSchema): Reading {
  const value = Number(text.trim());
  if (text.trim() === "" || !Number.isFinite(value)) return { error: "a number is needed" };
  if (kind === "integer" && !Number.isInteger(value)) return { error: "a whole number is needed" };
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === "number" && value < minimum) return { error: `at least ${minimum}` };
  if (typeof maximum === "number" && value > maximum) return { error: `at most ${maximum}` };
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum)
    return { error: `more than ${exclusiveMinimum}` };
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum)
    return { error: `less than ${exclusiveMaximum}` };
  return { value };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

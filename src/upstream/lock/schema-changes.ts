/**
 * The differences between two JSON Schemas: does the new one accept more (widening), does it only
 * leave something out (narrowing), or does it say or demand something else (wording)?
 *
 * Invariant: every difference is a change, and whatever is not understood is a widening. Narrowing
 * brings no text, no value and no demand that was not approved, because it is listed by default.
 * The schemas must be safe to walk.
 */
import { isRecord } from "../../lib/structures/record.ts";
import { type Change, shown } from "./change.ts";

type Schema = Readonly<Record<string, unknown>>;

/** A change of a schema. `isText`: every value is accepted as before. */
export interface SchemaChange extends Change {
  readonly isText?: boolean | undefined;
}

/** Keywords that say something and constrain nothing. */
const TEXT = new Set([
  "title",
  "description",
  "$comment",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "enumNames",
  "$schema",
]);
/** Limits from below and from above. */
const LOWER = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"]);
const UPPER = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"]);
/** Keywords that only ever exclude values: absent means anything. */
const EXCLUDING = new Set(["pattern", "format", "multipleOf", "uniqueItems", "contentEncoding", "contentMediaType"]);
/** Keywords with one schema, and absent means anything. */
const NESTED = new Set(["items", "additionalProperties", "additionalItems", "propertyNames", "contains"]);

/** Returns at least one change unless both are the same. */
export function schemaChanges(before: unknown, after: unknown, path: string): SchemaChange[] {
  if (same(before, after)) return [];
  if (before === false && isAnything(after)) return [{ class: "widening", path, what: "is accepted now" }];
  if (after === false && isAnything(before)) return [{ class: "narrowing", path, what: "is no longer accepted" }];
  if (after === false && isRecord(before)) return [{ class: "wording", path, what: "is no longer accepted" }];
  const [old, now] = [asSchema(before), asSchema(after)];
  if (!old || !now) return [notCompared(before, after, path)];
  const changes = memberKeys(old, now).flatMap((key) => keywordChanges(key, { old, now, path }));
  // An empty schema and none mean the same, and read differently.
  return changes.length > 0 ? changes : [{ class: "wording", path, what: difference(before, after), isText: true }];
}

function isAnything(value: unknown): boolean {
  return value === undefined || value === true;
}

/** `true`, or no schema at all, accepts anything. */
function asSchema(value: unknown): Schema | undefined {
  return isAnything(value) ? {} : isRecord(value) ? value : undefined;
}

function notCompared(before: unknown, after: unknown, path: string): SchemaChange {
  return { class: "widening", path, what: difference(before, after) };
}

function difference(before: unknown, after: unknown): string {
  return `was ${shown(before)} and is ${shown(after)}`;
}

interface Sides {
  readonly old: Schema;
  readonly now: Schema;
  readonly path: string;
}

/** The changes of one keyword that differs. */
function keywordChanges(key: string, { old, now, path }: Sides): SchemaChange[] {
  const [before, after] = [memberOf(old, key), memberOf(now, key)];
  const at = `${path}.${key}`;
  const changed = (as: "wording" | "widening"): SchemaChange[] => [
    { class: as, path: at, what: difference(before, after) },
  ];
  if (key === "properties") return parameterChanges({ old, now, path });
  if (key === "required") return requiredChanges({ old, now, path });
  if (key === "type") return typeChanges(before, after, at);
  if (key === "enum" || key === "const") return valueChanges(before, after, at);
  if (TEXT.has(key)) return [{ class: "wording", path: at, what: difference(before, after), isText: true }];
  if (LOWER.has(key) || UPPER.has(key)) return changed(isTighter(key, before, after) ? "wording" : "widening");
  if (EXCLUDING.has(key)) return changed(before === undefined ? "wording" : "widening");
  if (NESTED.has(key)) return schemaChanges(before, after, at);
  return changed("widening");
}

function isTighter(key: string, before: unknown, after: unknown): boolean {
  if (typeof after !== "number") return false;
  if (before === undefined) return true;
  return typeof before === "number" && (LOWER.has(key) ? after > before : after < before);
}

function parameterChanges({ old, now, path }: Sides): SchemaChange[] {
  const at = `${path}.properties`;
  const [was, is] = [recordOrNone(old, "properties"), recordOrNone(now, "properties")];
  if (!was || !is) return [notCompared(memberOf(old, "properties"), memberOf(now, "properties"), at)];
  const needed = new Set(namesIn(memberOf(now, "required")));
  const changes = memberKeys(was, is).flatMap((name): SchemaChange[] => {
    const label = JSON.stringify(name);
    const place = `${at}.${name}`;
    if (!Object.hasOwn(was, name)) return [{ class: "widening", path: place, what: `${label} was added` }];
    if (Object.hasOwn(is, name)) return schemaChanges(was[name], is[name], place);
    if (!needed.has(name)) return [{ class: "narrowing", path: place, what: `${label} was removed` }];
    return [{ class: "widening", path: place, what: `${label} is required, and any value is accepted now` }];
  });
  return changes.length > 0 ? changes : [{ class: "wording", path: at, what: "was added or removed", isText: true }];
}

/** A record, or an empty one where there is none. Undefined: something else is there. */
function recordOrNone(schema: Schema, key: string): Schema | undefined {
  const value = memberOf(schema, key);
  return value === undefined ? {} : isRecord(value) ? value : undefined;
}

/** A name that is required makes a model give a value, so it is never a mere narrowing. */
function requiredChanges({ old, now, path }: Sides): SchemaChange[] {
  const [before, after] = [memberOf(old, "required"), memberOf(now, "required")];
  const at = `${path}.required`;
  const [was, is] = [namesIn(before), namesIn(after)];
  if (!was || !is) return [notCompared(before, after, at)];
  if (isReordered(was, is)) {
    if (before !== undefined && after !== undefined)
      return [{ class: "cosmetic", path: at, what: "the order changed" }];
    return [{ class: "wording", path: at, what: difference(before, after), isText: true }];
  }
  const [known, declared] = [recordOrNone(old, "properties"), recordOrNone(now, "properties")];
  const changes: SchemaChange[] = [];
  const place = (name: string): string => `${path}.properties.${name}`;
  for (const name of new Set(is.filter((one) => !was.includes(one)))) {
    const label = JSON.stringify(name);
    if (!declared || !Object.hasOwn(declared, name)) {
      changes.push({ class: "widening", path: at, what: `${label} is required, and is no parameter` });
    } else if (!known || !Object.hasOwn(known, name)) {
      changes.push({ class: "wording", path: place(name), what: `${label} is required` });
    } else changes.push({ class: "wording", path: place(name), what: `${label} became required` });
  }
  for (const name of new Set(was.filter((one) => !is.includes(one)))) {
    // A parameter that is gone is reported as such.
    if (known && Object.hasOwn(known, name) && declared && !Object.hasOwn(declared, name)) continue;
    changes.push({ class: "widening", path: place(name), what: `${JSON.stringify(name)} became optional` });
  }
  if (changes.length > 0) return changes;
  const isShorter = isReordered(
    is,
    was.filter((name) => is.includes(name)),
  );
  return isShorter ? [] : [notCompared(before, after, at)];
}

/** The names of a list; none is an empty list. Undefined: not a list of names. */
function namesIn(value: unknown): readonly string[] | undefined {
  if (value === undefined) return [];
  return Array.isArray(value) && value.every((name) => typeof name === "string") ? value : undefined;
}

function isReordered(a: readonly string[], b: readonly string[]): boolean {
  return same([...a].sort(), [...b].sort());
}

function typeChanges(before: unknown, after: unknown, path: string): SchemaChange[] {
  const what = `the type was ${shown(before)} and is ${shown(after)}`;
  const [was, is] = [typesIn(before), typesIn(after)];
  if (after === undefined || !is) return [{ class: "widening", path, what }];
  if (before === undefined) return [{ class: "wording", path, what }];
  if (!was) return [{ class: "widening", path, what }];
  if (Array.isArray(before) && Array.isArray(after) && isReordered(was, is)) {
    return [{ class: "cosmetic", path, what: "the order changed" }];
  }
  // A number may be an integer too.
  const accepted = new Set(was.includes("number") ? [...was, "integer"] : was);
  return [{ class: is.every((type) => accepted.has(type)) ? "wording" : "widening", path, what }];
}

/** Undefined: types that JSON Schema does not have. */
function typesIn(value: unknown): readonly string[] | undefined {
  const types = namesIn(typeof value === "string" ? [value] : value);
  return types?.every((type) => TYPES.has(type)) ? types : undefined;
}

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

/** Any other choice of values is one that a model reads, and may be forced to take. */
function valueChanges(before: unknown, after: unknown, path: string): SchemaChange[] {
  const isConst = path.endsWith(".const");
  const [was, is] = isConst ? [constIn(before), constIn(after)] : [before, after].map(listIn);
  if (!was || !is) return [notCompared(before, after, path)];
  if (before === undefined) return [{ class: "wording", path, what: "only certain values are accepted now" }];
  if (after === undefined) return [{ class: "widening", path, what: "any value is accepted now" }];
  const changes: SchemaChange[] = [];
  const added = is.filter((value) => !was.includes(value));
  const removed = was.filter((value) => !is.includes(value));
  if (added.length > 0) changes.push({ class: "widening", path, what: `${valueList(added)} accepted now` });
  if (removed.length > 0) changes.push({ class: "wording", path, what: `${valueList(removed)} no longer accepted` });
  return changes.length > 0 ? changes : [{ class: "wording", path, what: "the order changed", isText: true }];
}

function listIn(value: unknown): readonly string[] | undefined {
  if (value === undefined) return [];
  return Array.isArray(value) ? value.map(keyOf) : undefined;
}

function constIn(value: unknown): readonly string[] {
  return value === undefined ? [] : [keyOf(value)];
}

function valueList(values: readonly string[]): string {
  const more = values.length > 3 ? ` and ${values.length - 3} more` : "";
  return `${values.slice(0, 3).join(", ")}${more} ${values.length > 1 ? "are" : "is"}`;
}

/** The keys of two objects whose values differ, in the order of the first one. */
export function memberKeys(old: Schema, now: Schema): string[] {
  const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...keys].filter((key) => Object.hasOwn(old, key) !== Object.hasOwn(now, key) || !same(old[key], now[key]));
}

/** A member of the object itself: a server may call one `__proto__`. */
export function memberOf(object: Schema, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Whether two values are the same JSON, apart from the order of members. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((one, i) => same(one, b[i]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

/** A text that equal values have in common. */
function keyOf(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

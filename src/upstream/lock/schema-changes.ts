/**
 * The differences between two JSON Schemas of arguments: does the new one accept more (widening) or
 * less (narrowing), or does it only say something else (wording)?
 *
 * What cannot be judged counts as widening. The schemas must be safe to walk.
 */
import { isRecord, recordOf } from "../../lib/structures/record.ts";
import { type Change, shown } from "./change.ts";

type Schema = Readonly<Record<string, unknown>>;

/** What only people see, and what only says something. */
const COSMETIC = new Set(["title", "$comment", "$schema", "$id", "$anchor"]);
const WORDING = new Set(["description", "default", "examples", "deprecated", "readOnly", "writeOnly", "enumNames"]);
/** Limits from below and from above. */
const LOWER = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"]);
const UPPER = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"]);
/** Keywords that only ever exclude values: absent means anything. */
const EXCLUDING = new Set(["pattern", "format", "multipleOf", "uniqueItems", "contentEncoding", "contentMediaType"]);
/** Keywords with one schema, and absent means anything. */
const NESTED = new Set(["items", "additionalProperties", "additionalItems", "propertyNames", "contains"]);
const NAMED = new Set(["$defs", "definitions", "patternProperties"]);
const HANDLED = new Set(["properties", "required", "type", "enum", "const", "anyOf", "oneOf", "allOf"]);

export function schemaChanges(before: unknown, after: unknown, path: string): Change[] {
  if (same(before, after)) return [];
  const [old, now] = [asSchema(before), asSchema(after)];
  if (old === undefined || now === undefined) return acceptance(old !== undefined, now !== undefined, path);
  const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
  const plain = [...keys].filter((key) => !HANDLED.has(key) && !same(old[key], now[key]));
  return [
    ...parameterChanges(old, now, path),
    ...typeChanges(old, now, path),
    ...valueChanges(old, now, path),
    ...alternatives(old, now, path),
    ...plain.flatMap((key) => keywordChanges(key, { before: old[key], after: now[key], path: `${path}.${key}` })),
  ];
}

/** `false` accepts nothing; `true`, or no schema at all, accepts anything. */
function asSchema(value: unknown): Schema | undefined {
  if (value === false) return undefined;
  return isRecord(value) ? value : {};
}

function acceptance(before: boolean, after: boolean, path: string): Change[] {
  if (before === after) return [];
  return after
    ? [{ class: "widening", path, what: "is accepted now" }]
    : [{ class: "narrowing", path, what: "is no longer accepted" }];
}

function parameterChanges(old: Schema, now: Schema, path: string): Change[] {
  const [was, is] = [recordOf(old["properties"]), recordOf(now["properties"])];
  const [needed, needs] = [new Set(listOf(old["required"])), new Set(listOf(now["required"]))];
  const changes: Change[] = [];
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const at = `${path}.properties.${name}`;
    const label = JSON.stringify(name);
    if (!Object.hasOwn(was, name)) {
      changes.push({ class: "widening", path: at, what: `${label} was added` });
      if (needs.has(name)) changes.push({ class: "narrowing", path: at, what: `${label} is required` });
    } else if (!Object.hasOwn(is, name)) changes.push({ class: "narrowing", path: at, what: `${label} was removed` });
    else {
      if (needs.has(name) && !needed.has(name)) {
        changes.push({ class: "narrowing", path: at, what: `${label} became required` });
      }
      if (needed.has(name) && !needs.has(name)) {
        changes.push({ class: "widening", path: at, what: `${label} became optional` });
      }
      changes.push(...schemaChanges(was[name], is[name], at));
    }
  }
  return changes;
}

function typeChanges(old: Schema, now: Schema, path: string): Change[] {
  const [was, is] = [old["type"], now["type"]];
  if (same(was, is)) return [];
  const before = typesOf(was);
  const after = typesOf(is);
  const what = `the type was ${shown(was)} and is ${shown(is)}`;
  const at = `${path}.type`;
  if (before === undefined || after === undefined) {
    return [{ class: after === undefined ? "widening" : "narrowing", path: at, what }];
  }
  const added = [...after].some((type) => !before.has(type));
  const removed = [...before].some((type) => !after.has(type));
  return added ? [{ class: "widening", path: at, what }] : removed ? [{ class: "narrowing", path: at, what }] : [];
}

/** A number may be an integer too. */
function typesOf(value: unknown): Set<unknown> | undefined {
  if (value === undefined) return undefined;
  const types = new Set(Array.isArray(value) ? value : [value]);
  if (types.has("number")) types.add("integer");
  return types;
}

function valueChanges(old: Schema, now: Schema, path: string): Change[] {
  const [was, is] = [valuesOf(old), valuesOf(now)];
  const at = `${path}.${"const" in now || "const" in old ? "const" : "enum"}`;
  if (was === undefined && is === undefined) return [];
  if (was === undefined) return [{ class: "narrowing", path: at, what: "only certain values are accepted now" }];
  if (is === undefined) return [{ class: "widening", path: at, what: "any value is accepted now" }];
  const changes: Change[] = [];
  const added = [...is].filter((value) => !was.has(value));
  const removed = [...was].filter((value) => !is.has(value));
  if (added.length > 0) changes.push({ class: "widening", path: at, what: `${valueList(added)} accepted now` });
  if (removed.length > 0) {
    changes.push({ class: "narrowing", path: at, what: `${valueList(removed)} no longer accepted` });
  }
  return changes;
}

function valuesOf(schema: Schema): Set<string> | undefined {
  if ("const" in schema) return new Set([keyOf(schema["const"])]);
  const values = schema["enum"];
  return Array.isArray(values) ? new Set(values.map(keyOf)) : undefined;
}

function valueList(values: readonly string[]): string {
  const more = values.length > 3 ? ` and ${values.length - 3} more` : "";
  return `${values.slice(0, 3).join(", ")}${more} ${values.length > 1 ? "are" : "is"}`;
}

function alternatives(old: Schema, now: Schema, path: string): Change[] {
  return (["anyOf", "oneOf", "allOf"] as const).flatMap((key): Change[] => {
    const [was, is] = [old[key], now[key]];
    if (same(was, is)) return [];
    const at = `${path}.${key}`;
    const isAll = key === "allOf";
    if (!Array.isArray(was) || !Array.isArray(is)) {
      return [{ class: Array.isArray(is) ? "narrowing" : "widening", path: at, what: "was replaced" }];
    }
    if (was.length === is.length) return was.flatMap((one, i) => schemaChanges(one, is[i], `${at}.${i}`));
    const [before, after] = [new Set(was.map(keyOf)), new Set(is.map(keyOf))];
    const changes: Change[] = [];
    if ([...after].some((one) => !before.has(one))) {
      changes.push({ class: isAll ? "narrowing" : "widening", path: at, what: "a schema was added" });
    }
    if ([...before].some((one) => !after.has(one))) {
      changes.push({ class: isAll ? "widening" : "narrowing", path: at, what: "a schema was removed" });
    }
    return changes;
  });
}

interface Keyword {
  readonly before: unknown;
  readonly after: unknown;
  readonly path: string;
}

function keywordChanges(key: string, { before, after, path }: Keyword): Change[] {
  const what = `was ${shown(before)} and is ${shown(after)}`;
  if (COSMETIC.has(key)) return [{ class: "cosmetic", path, what }];
  if (WORDING.has(key)) return [{ class: "wording", path, what }];
  if (LOWER.has(key) || UPPER.has(key)) {
    const isNarrower =
      before === undefined || (LOWER.has(key) ? Number(after) > Number(before) : Number(after) < Number(before));
    return [{ class: after !== undefined && isNarrower ? "narrowing" : "widening", path, what }];
  }
  if (EXCLUDING.has(key)) {
    const isNarrower = before === undefined || (key === "uniqueItems" && after === true);
    return [{ class: isNarrower ? "narrowing" : "widening", path, what }];
  }
  if (NESTED.has(key) && !Array.isArray(before) && !Array.isArray(after)) return schemaChanges(before, after, path);
  if (NAMED.has(key)) {
    const [was, is] = [recordOf(before), recordOf(after)];
    // What is new or gone is judged where it is referred to.
    return Object.keys(was).flatMap((name) =>
      Object.hasOwn(is, name) ? schemaChanges(was[name], is[name], `${path}.${name}`) : [],
    );
  }
  return [{ class: "widening", path, what }];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
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

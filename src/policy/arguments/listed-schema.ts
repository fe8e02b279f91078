/**
 * Removes arguments from the JSON text of a tool's definition: from its input schema's properties
 * and required names, also in branches and behind local references. The rest stays as it is.
 *
 * Invariant: a schema is a server's text. One that refers to itself ends, and a part of a form that
 * is not understood stays.
 */
import {
  applyEdits,
  cutMembers,
  type Edit,
  elementSpans,
  memberSpan,
  memberText,
  setMember,
} from "../../lib/json/json-text.ts";
import type { ArgumentPath } from "../argument-path.ts";

const MAX_DEPTH = 16;
const BRANCHES = ["allOf", "anyOf", "oneOf"];
const CONDITIONS = ["if", "then", "else"];

export function withoutParameters(definition: string, paths: readonly ArgumentPath[]): string {
  const root = memberText(definition, "inputSchema");
  if (root === undefined || !root.startsWith("{")) return definition;
  let schema = root;
  for (const path of paths) schema = without(schema, path, { root, depth: 0 });
  return schema === root ? definition : setMember(definition, "inputSchema", schema);
}

interface Place {
  /** The whole schema, which references lead into. */
  readonly root: string;
  readonly depth: number;
}

function without(given: string, path: ArgumentPath, { root, depth }: Place): string {
  const [step, ...rest] = path;
  if (step === undefined || depth > MAX_DEPTH || !given.startsWith("{")) return given;
  const inside = { root, depth: depth + 1 };
  let schema = resolved(given, root);
  const properties = memberText(schema, "properties");
  if (properties?.startsWith("{")) {
    const edited =
      rest.length === 0
        ? cutMembers(properties, (key) => key === step)
        : withProperty(properties, step, (property) => withoutBelow(property, rest, inside));
    if (edited !== properties) schema = setMember(schema, "properties", edited);
  }
  if (rest.length === 0) schema = withoutRequired(schema, step);
  for (const key of BRANCHES) schema = withElements(schema, key, (branch) => without(branch, path, inside));
  for (const key of CONDITIONS) schema = withProperty(schema, key, (branch) => without(branch, path, inside));
  // A reference is kept if nothing behind it changed.
  return schema === resolved(given, root) ? given : schema;
}

/** In a list, the path goes on in each element, and in lists of lists. */
function withoutBelow(property: string, path: ArgumentPath, place: Place): string {
  if (place.depth > MAX_DEPTH) return property;
  const schema = resolved(property, place.root);
  const inside = { ...place, depth: place.depth + 1 };
  const edited = withElements(
    withProperty(schema, "items", (items) => withoutBelow(items, path, inside)),
    "prefixItems",
    (item) => withoutBelow(item, path, inside),
  );
  const result = without(edited, path, place);
  return result === schema ? property : result;
}

function withProperty(object: string, key: string, edit: (value: string) => string): string {
  const value = memberText(object, key);
  if (value === undefined || !value.startsWith("{")) return object;
  const edited = edit(value);
  return edited === value ? object : setMember(object, key, edited);
}

function withElements(object: string, key: string, edit: (value: string) => string): string {
  const list = memberText(object, key);
  if (list === undefined || !list.startsWith("[")) return object;
  const edits: Edit[] = elementSpans(list, 0).map(({ start, end }) => {
    return { start, end, text: edit(list.slice(start, end)) };
  });
  const edited = applyEdits(list, edits);
  return edited === list ? object : setMember(object, key, edited);
}

function withoutRequired(schema: string, name: string): string {
  const list = memberText(schema, "required");
  if (list === undefined || !list.startsWith("[")) return schema;
  const texts = elementSpans(list, 0).map(({ start, end }) => list.slice(start, end));
  const kept = texts.filter((text) => !text.startsWith('"') || JSON.parse(text) !== name);
  return kept.length === texts.length ? schema : setMember(schema, "required", `[${kept.join(",")}]`);
}

/** Follows references of the form `#/…` inside of the schema. */
function resolved(given: string, root: string): string {
  let schema = given;
  for (let hops = 0; hops < MAX_DEPTH; hops++) {
    const reference = memberText(schema, "$ref");
    if (reference === undefined || !reference.startsWith('"#/')) return schema;
    const steps = (JSON.parse(reference) as string).slice(2).split("/");
    let found: string | undefined = root;
    for (const step of steps) {
      const span: { start: number; end: number } | undefined = found?.startsWith("{")
        ? memberSpan(found, 0, step.replaceAll("~1", "/").replaceAll("~0", "~"))
        : undefined;
      found = span && found?.slice(span.start, span.end);
    }
    if (found === undefined || !found.startsWith("{")) return schema;
    schema = found;
  }
  return schema;
}

/**
 * The differences between the approved definition of a tool, prompt or template and the current
 * one, each with its class.
 */

import { isRecord, recordOf } from "../../lib/structures/record.ts";
import type { Definition } from "../catalog/definitions.ts";
import { type Change, shown } from "./change.ts";
import { same, schemaChanges } from "./schema-changes.ts";
import { hintWords, type SurfaceKind } from "./surface.ts";

/** Members that people see and models do not. */
const COSMETIC = new Set(["title", "icons"]);

/** The definitions have different digests. */
export function definitionChanges(kind: SurfaceKind, before: Definition, after: Definition): Change[] {
  const [old, now] = [before.value, after.value];
  const keys = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((key) => !same(old[key], now[key]));
  const changes = keys.flatMap((key) => memberChanges(kind, key, { before: old[key], after: now[key] }));
  if (changes.length > 0) return changes;
  if (keys.length > 0) return [{ class: "cosmetic", path: keys.join(", "), what: "the order is another" }];
  // Numbers that JavaScript takes for equal, or duplicate keys.
  return [{ class: "wording", path: "", what: "the same values are written in another way" }];
}

interface Member {
  readonly before: unknown;
  readonly after: unknown;
}

function memberChanges(kind: SurfaceKind, key: string, member: Member): Change[] {
  const { before, after } = member;
  const changed = (as: "cosmetic" | "wording"): Change[] => [
    { class: as, path: key, what: `was ${shown(before)} and is ${shown(after)}` },
  ];
  if (COSMETIC.has(key)) return changed("cosmetic");
  if (kind === "tools" && key === "inputSchema") return schemaChanges(before, after, key);
  if (kind === "tools" && key === "outputSchema") return outputChanges(member);
  if (kind === "tools" && key === "annotations") return annotationChanges(recordOf(before), recordOf(after));
  if (kind === "prompts" && key === "arguments") return argumentChanges(argumentsIn(before), argumentsIn(after));
  if (kind === "templates" && (key === "name" || key === "annotations")) return changed("cosmetic");
  return changed("wording");
}

/**
 * A result gives nobody more power: a server that returns more says more, and one that returns less
 * is narrower.
 */
function outputChanges({ before, after }: Member): Change[] {
  const path = "outputSchema";
  if (before === undefined) return [{ class: "wording", path, what: "was added", changesOutput: true }];
  if (after === undefined) return [{ class: "narrowing", path, what: "was removed", changesOutput: true }];
  return schemaChanges(before, after, path).map((change) => {
    if (change.class === "cosmetic" || change.class === "wording") return change;
    return { ...change, class: change.class === "widening" ? "wording" : "narrowing", changesOutput: true };
  });
}

type Annotations = Readonly<Record<string, unknown>>;

/**
 * Every changed hint is a widening: either the tool may do more harm, or it claims to do less, and
 * rules that trust hints would allow more.
 */
function annotationChanges(old: Annotations, now: Annotations): Change[] {
  const changes: Change[] = [];
  const known = new Set<string>(["title"]);
  for (const { key, absent, words } of hintWords) {
    known.add(key);
    const valueIn = (annotations: Annotations): boolean =>
      typeof annotations[key] === "boolean" ? annotations[key] : absent;
    const [was, is] = [valueIn(old), valueIn(now)];
    if (was === is) continue;
    const word = (value: boolean): string => (value ? words.true : words.false);
    const what = `the tool was ${word(was)} and is ${word(is)}`;
    changes.push({ class: "widening", path: `annotations.${key}`, what, raises: isHarm(key, is) });
  }
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (same(old[key], now[key]) || changes.some(({ path }) => path === `annotations.${key}`)) continue;
    const what = `was ${shown(old[key])} and is ${shown(now[key])}`;
    changes.push({ class: known.has(key) ? "cosmetic" : "wording", path: `annotations.${key}`, what });
  }
  return changes;
}

/** Whether the value says that the tool may do harm. */
function isHarm(key: (typeof hintWords)[number]["key"], value: boolean): boolean {
  return key === "readOnlyHint" || key === "idempotentHint" ? !value : value;
}

interface Argument {
  readonly isRequired: boolean;
  readonly value: Readonly<Record<string, unknown>>;
}

function argumentsIn(value: unknown): ReadonlyMap<string, Argument> {
  const all = Array.isArray(value) ? value.filter(isRecord) : [];
  return new Map(all.map((one) => [String(one["name"]), { isRequired: one["required"] === true, value: one }]));
}

function argumentChanges(before: ReadonlyMap<string, Argument>, after: ReadonlyMap<string, Argument>): Change[] {
  const changes: Change[] = [];
  for (const [name, { isRequired, value }] of after) {
    const path = `arguments.${name}`;
    const label = JSON.stringify(name);
    const known = before.get(name);
    if (!known) {
      changes.push({ class: "widening", path, what: `${label} was added` });
      if (isRequired) changes.push({ class: "narrowing", path, what: `${label} is required` });
      continue;
    }
    if (isRequired !== known.isRequired) {
      const [as, what] = isRequired ? (["narrowing", "required"] as const) : (["widening", "optional"] as const);
      changes.push({ class: as, path, what: `${label} became ${what}` });
    }
    for (const key of new Set([...Object.keys(value), ...Object.keys(known.value)])) {
      if (key === "required" || same(value[key], known.value[key])) continue;
      const what = `was ${shown(known.value[key])} and is ${shown(value[key])}`;
      changes.push({ class: COSMETIC.has(key) ? "cosmetic" : "wording", path: `${path}.${key}`, what });
    }
  }
  for (const name of before.keys()) {
    if (!after.has(name)) {
      changes.push({ class: "narrowing", path: `arguments.${name}`, what: `${JSON.stringify(name)} was removed` });
    }
  }
  return changes;
}

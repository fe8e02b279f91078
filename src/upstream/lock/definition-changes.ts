/**
 * The differences between the approved definition of a tool, prompt or template and the current
 * one, each with its class.
 *
 * Invariant: every difference is a change. Only the order of names in a set is cosmetic; whatever
 * is not understood is a widening.
 */

import { canonical } from "../../lib/json/canonical.ts";
import { isRecord } from "../../lib/structures/record.ts";
import type { Definition } from "../catalog/definitions.ts";
import { type Change, shown } from "./change.ts";
import { memberKeys, memberOf, same, schemaChanges } from "./schema-changes.ts";
import { hintWords, type SurfaceKind } from "./surface.ts";

/** Members that people or models read, and that decide nothing. */
const TEXT = new Set(["title", "description", "icons", "_meta", "name", "annotations", "mimeType"]);

/** The definitions have different digests. */
export function definitionChanges(kind: SurfaceKind, before: Definition, after: Definition): Change[] {
  const changes = memberKeys(before.value, after.value).flatMap((key) =>
    memberChanges(kind, key, { before: memberOf(before.value, key), after: memberOf(after.value, key) }),
  );
  if (changes.length > 0 && isPlain(before) && isPlain(after)) return changes;
  return [...changes, { class: "wording", path: "", what: "the same values are written in another way" }];
}

/** Whether all readers find the same values: no key comes twice, and no number is rounded. */
function isPlain({ text, value }: Definition): boolean {
  return canonical(text) === canonical(JSON.stringify(value));
}

interface Member {
  readonly before: unknown;
  readonly after: unknown;
}

function memberChanges(kind: SurfaceKind, key: string, member: Member): Change[] {
  const { before, after } = member;
  if (kind === "tools" && key === "inputSchema") return inputChanges(member);
  if (kind === "tools" && key === "outputSchema") return outputChanges(member);
  if (kind === "tools" && key === "annotations") return annotationChanges(member);
  if (kind === "prompts" && key === "arguments") return argumentChanges(member);
  return [{ class: TEXT.has(key) ? "wording" : "widening", path: key, what: difference(before, after) }];
}

function difference(before: unknown, after: unknown): string {
  return `was ${shown(before)} and is ${shown(after)}`;
}

function inputChanges({ before, after }: Member): Change[] {
  return schemaChanges(before, after, "inputSchema").map(({ isText: _, ...change }) => change);
}

/**
 * A result gives nobody more power: a server that returns more says more, and one that returns less
 * is narrower.
 */
function outputChanges({ before, after }: Member): Change[] {
  const path = "outputSchema";
  if (before === undefined) return [{ class: "wording", path, what: "was added", changesOutput: true }];
  if (after === undefined) return [{ class: "narrowing", path, what: "was removed", changesOutput: true }];
  return schemaChanges(before, after, path).map(({ isText, ...change }): Change => {
    if (change.class === "cosmetic" || isText) return change;
    return { ...change, class: change.class === "narrowing" ? "narrowing" : "wording", changesOutput: true };
  });
}

type Annotations = Readonly<Record<string, unknown>>;

/**
 * Every changed hint is a widening: either the tool may do more harm, or it claims to do less, and
 * rules that trust hints would allow more.
 */
function annotationChanges({ before, after }: Member): Change[] {
  const [old, now] = [before ?? {}, after ?? {}];
  if (!isRecord(old) || !isRecord(now)) {
    return [{ class: "widening", path: "annotations", what: difference(before, after) }];
  }
  const changes: Change[] = [];
  for (const { key, absent, words } of hintWords) {
    const valueIn = (annotations: Annotations): boolean => {
      const value = memberOf(annotations, key);
      return typeof value === "boolean" ? value : absent;
    };
    const [was, is] = [valueIn(old), valueIn(now)];
    if (was === is) continue;
    const word = (value: boolean): string => (value ? words.true : words.false);
    const what = `the tool was ${word(was)} and is ${word(is)}`;
    changes.push({ class: "widening", path: `annotations.${key}`, what, raises: isHarm(key, is) });
  }
  for (const key of memberKeys(old, now)) {
    const path = `annotations.${key}`;
    if (changes.some((change) => change.path === path)) continue;
    changes.push({ class: "wording", path, what: difference(memberOf(old, key), memberOf(now, key)) });
  }
  return changes.length > 0 ? changes : [{ class: "wording", path: "annotations", what: difference(before, after) }];
}

/** Whether the value says that the tool may do harm. */
function isHarm(key: (typeof hintWords)[number]["key"], value: boolean): boolean {
  return key === "readOnlyHint" || key === "idempotentHint" ? !value : value;
}

type Argument = Readonly<Record<string, unknown>>;

function argumentChanges({ before, after }: Member): Change[] {
  const path = "arguments";
  const [old, now] = [argumentsIn(before), argumentsIn(after)];
  if (!old || !now) return [{ class: "widening", path, what: difference(before, after) }];
  const changes: Change[] = [];
  for (const [name, argument] of now) {
    const known = old.get(name);
    if (known) changes.push(...changesOfArgument(known, argument, `${path}.${name}`));
    else changes.push({ class: "widening", path: `${path}.${name}`, what: `${JSON.stringify(name)} was added` });
  }
  for (const name of old.keys()) {
    if (now.has(name)) continue;
    changes.push({ class: "narrowing", path: `${path}.${name}`, what: `${JSON.stringify(name)} was removed` });
  }
  const kept = [...old.keys()].filter((name) => now.has(name));
  const isSorted = same(
    kept,
    [...now.keys()].filter((name) => old.has(name)),
  );
  if (isSorted && changes.length > 0) return changes;
  return [...changes, { class: "wording", path, what: isSorted ? difference(before, after) : "the order changed" }];
}

/** Undefined: not a list of arguments with one name each. */
function argumentsIn(value: unknown): ReadonlyMap<string, Argument> | undefined {
  const all = value ?? [];
  if (!Array.isArray(all)) return undefined;
  const named = all.flatMap((one): [string, Argument][] =>
    isRecord(one) && typeof memberOf(one, "name") === "string" ? [[one["name"] as string, one]] : [],
  );
  const byName = new Map(named);
  return byName.size === all.length ? byName : undefined;
}

function changesOfArgument(old: Argument, now: Argument, path: string): Change[] {
  const label = JSON.stringify(old["name"]);
  return memberKeys(old, now).map((key): Change => {
    const [before, after] = [memberOf(old, key), memberOf(now, key)];
    if (key === "required" && after === true) return { class: "wording", path, what: `${label} became required` };
    if (key === "required" && before === true && !after) {
      return { class: "widening", path, what: `${label} became optional` };
    }
    return { class: "wording", path: `${path}.${key}`, what: difference(before, after) };
  });
}

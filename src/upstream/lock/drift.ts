/**
 * The differences between the approved offers of a server and its present ones.
 *
 * Pure: an approved surface, the current one and the scanner's findings in, the list of drifts out,
 * in a fixed order.
 */

import { canonical } from "../../lib/json/canonical.ts";
import { dropMembers } from "../../lib/json/json-text.ts";
import { each, type Sliced, sorted, textCost } from "../../lib/timing/slices.ts";
import type { Definition } from "../catalog/definitions.ts";
import { type Change, type DriftClass, worst } from "./change.ts";
import { definitionChanges } from "./definition-changes.ts";
import type { LockedServer } from "./lock-file.ts";
import { originOf, type Source } from "./source.ts";
import { digestOf, type LockedEntry, type Surface, type SurfaceKind, surfaceKinds } from "./surface.ts";

export const driftKinds = ["tool", "prompt", "template", "instructions", "serverInfo", "resources", "source"] as const;
export type DriftKind = (typeof driftKinds)[number];

export interface Drift {
  readonly kind: DriftKind;
  /** Empty for what a server has once. */
  readonly name: string;
  readonly change: "added" | "removed" | "changed";
  readonly class: DriftClass;
  readonly changes: readonly Change[];
  /** The approved text and the current one. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** What the scanner found in a new text. `isHard`: it is certainly no accident. */
export interface Finding {
  readonly rule: string;
  readonly isHard: boolean;
  readonly path: string;
  readonly what: string;
}

/** Scans the text of an entry, or the instructions. */
export type Scan = (kind: DriftKind, text: string) => readonly Finding[];

export const kindNames: Readonly<Record<SurfaceKind, "tool" | "prompt" | "template">> = {
  tools: "tool",
  prompts: "prompt",
  templates: "template",
};

/** A server's surface with its source. */
export type CurrentServer = Surface & { readonly source: Source };

/** `approved`: undefined for a server that the lock file does not have. */
export function* driftOf({ approved, current, scan }: Sides): Sliced<Drift[]> {
  const sides = { approved, current, scan };
  const drifts = [
    ...sourceDrift(approved?.source, current.source),
    ...textDrift("instructions", sides),
    ...textDrift("serverInfo", sides),
  ];
  for (const kind of surfaceKinds) drifts.push(...(yield* entriesDrift(kind, sides)));
  return [...drifts, ...resourcesDrift(approved, current)];
}

export interface Sides {
  readonly approved: LockedServer | undefined;
  readonly current: CurrentServer;
  readonly scan: Scan;
}

/** The same version with other contents is no upgrade: somebody replaced it. */
function sourceDrift(before: Source | undefined, after: Source): Drift[] {
  if (!before) return [];
  const changes: Change[] = [];
  const changed = (as: DriftClass, path: string, what: string): void => void changes.push({ class: as, path, what });
  if (originOf(before) !== originOf(after)) {
    changed("widening", "", `was ${originOf(before)} and is ${originOf(after)}`);
  } else if (before.version !== after.version) {
    changed("cosmetic", "version", `was ${before.version ?? "unknown"} and is ${after.version ?? "unknown"}`);
  } else if (before.integrity && after.integrity && before.integrity !== after.integrity) {
    changed("suspicious", "integrity", `version ${after.version} has other contents than the approved one`);
  }
  if (changes.length === 0) return [];
  const texts = { before: JSON.stringify(before), after: JSON.stringify(after) };
  return [{ kind: "source", name: "", change: "changed", class: worst(changes), changes, ...texts }];
}

function textDrift(kind: "instructions" | "serverInfo", { approved, current, scan }: Sides): Drift[] {
  const [before, after] = [approved?.[kind], current[kind]];
  if (before?.digest === after?.digest) return [];
  const change = before ? (after ? "changed" : "removed") : "added";
  const changes: Change[] = [{ class: after ? "wording" : "narrowing", path: "", what: `the text was ${change}` }];
  if (after) changes.push(...suspicions(scan(kind, after.text), before && scan(kind, before.text)));
  const texts = { before: before?.text, after: after?.text };
  return [{ kind, name: "", change, class: worst(changes), changes, ...texts }];
}

function* entriesDrift(kind: SurfaceKind, { approved, current, scan }: Sides): Sliced<Drift[]> {
  const before = approved?.[kind] ?? new Map<string, LockedEntry>();
  const after = current[kind];
  const drifts: Drift[] = [];
  const removed = [...before].filter(([name]) => !after.has(name));
  const formerNames = new Map<string, string>();
  yield* each(removed, ([name, entry]) => void formerNames.set(namelessDigest(entry.definition), name), costOf);
  const compare = ([name, { digest, definition }]: [string, LockedEntry]): void => {
    const known = before.get(name);
    if (known?.digest === digest) return;
    const text = definition.text;
    const findings = scan(kindNames[kind], text);
    if (known) {
      const changes = [
        ...definitionChanges(kind, known.definition, definition),
        ...suspicions(findings, scan(kindNames[kind], known.definition.text)),
      ];
      drifts.push(entryDrift(kind, name, { change: "changed", changes, before: known.definition.text, after: text }));
    } else {
      const former = formerNames.size > 0 ? formerNames.get(namelessDigest(definition)) : undefined;
      const what = former === undefined ? "is new" : `is new; ${JSON.stringify(former)} had the same definition`;
      const changes = [{ class: "widening" as const, path: "", what }, ...suspicions(findings, undefined)];
      drifts.push(entryDrift(kind, name, { change: "added", changes, after: text }));
    }
  };
  yield* each([...after], compare, costOf);
  for (const [name, { definition }] of removed) {
    const changes = [{ class: "narrowing" as const, path: "", what: "is gone" }];
    drifts.push(entryDrift(kind, name, { change: "removed", changes, before: definition.text }));
  }
  return yield* sorted(drifts, (a, b) => (a.name < b.name ? -1 : 1));
}

/** An entry is read several times: digested, compared and scanned. */
function costOf([, { definition }]: readonly [string, LockedEntry]): number {
  return 16 * textCost(definition.text);
}

function entryDrift(kind: SurfaceKind, name: string, drift: Omit<Drift, "kind" | "name" | "class">): Drift {
  return { kind: kindNames[kind], name, class: worst(drift.changes), ...drift };
}

/** What the scanner found, as changes. What the approved text has too was approved with it. */
function suspicions(findings: readonly Finding[], approved: readonly Finding[] | undefined): Change[] {
  const known = new Set(approved?.map(({ rule, what }) => `${rule} ${what}`));
  return findings
    .filter(({ rule, what }) => !known.has(`${rule} ${what}`))
    .map(({ rule, isHard, path, what }) => ({
      class: isHard ? "suspicious" : "wording",
      path,
      what: `${rule}: ${what}`,
    }));
}

/** Resources are data and come and go. The texts about them are held. */
function resourcesDrift(approved: LockedServer | undefined, { resources }: CurrentServer): Drift[] {
  const before = approved?.resources;
  if (before?.digest === resources.digest || (!before && resources.count === 0)) return [];
  const known = new Set(before?.digests);
  const added = [...(resources.texts ?? [])].filter(([digest]) => !known.has(digest)).map(([, text]) => text);
  const what = before
    ? `there were ${before.count} and are ${resources.count}; ${added.length} are new or have other texts`
    : `there are ${resources.count}`;
  const as = !before ? "widening" : added.length > 0 ? "wording" : "cosmetic";
  const after = added.length > 0 ? added.slice(0, MAX_SHOWN).join("\n") : undefined;
  const change = before ? "changed" : "added";
  return [{ kind: "resources", name: "", change, class: as, changes: [{ class: as, path: "", what }], after }];
}

/** The most resources whose texts are shown. */
const MAX_SHOWN = 1000;

function namelessDigest({ text }: Definition): string {
  return digestOf(canonical(dropMembers(text, (key) => key === "name" || key === "uriTemplate")));
}

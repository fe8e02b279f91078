/**
 * What a drift does to the lists that clients see.
 *
 * Pass: the server's own form is listed. Pin: the approved form is listed instead; what has none is
 * hidden. Hold: the same, and an entry whose approved form would no longer be true is hidden
 * altogether: it may do more harm than its hints say, or the scanner found an attack in it.
 */

import { cutMembers } from "../../lib/json/json-text.ts";
import { mapped, type Sliced, textCost } from "../../lib/timing/slices.ts";
import { type Definition, hintsOf, type ServerLists, setHints } from "../catalog/definitions.ts";
import type { DriftClass } from "./change.ts";
import { type Drift, kindNames } from "./drift.ts";
import type { LockedServer } from "./lock-file.ts";
import { identifierOf, type LockedList, resourceDigest, type SurfaceKind, surfaceKinds } from "./surface.ts";

export const lockActions = ["pass", "pin", "hold"] as const;
export type LockAction = (typeof lockActions)[number];

export type LockActions = Readonly<Record<DriftClass, LockAction>>;

/** What each class of difference does, by `lock.strictness`. */
export const lockPresets: Readonly<Record<"strict" | "default" | "relaxed", LockActions>> = {
  strict: { cosmetic: "pass", wording: "hold", narrowing: "hold", widening: "hold", suspicious: "hold" },
  default: { cosmetic: "pass", wording: "pin", narrowing: "pass", widening: "hold", suspicious: "hold" },
  relaxed: { cosmetic: "pass", wording: "pass", narrowing: "pass", widening: "pin", suspicious: "hold" },
};

/** How an entry is listed. */
export type Effect = "listed" | "pinned" | "hidden" | "gone";

/** `actions`: undefined if drift is only reported. */
export function effectOf(drift: Drift, actions: LockActions | undefined): Effect {
  if (drift.change === "removed") return "gone";
  if (!actions) return "listed";
  const action = actionOf(drift, actions);
  if (drift.kind === "resources") return action === "pass" ? "listed" : drift.change === "added" ? "hidden" : "pinned";
  // A source has no approved form: either it is another one, or it is not.
  if (drift.kind === "source") return action === "hold" ? "hidden" : "listed";
  if (action === "pass") return "listed";
  if (drift.before === undefined) return "hidden";
  const isUntrue = drift.class === "suspicious" || drift.changes.some(({ raises }) => raises);
  return action === "hold" && isUntrue ? "hidden" : "pinned";
}

/** One change that is held holds the whole. */
export function actionOf({ changes }: Drift, actions: LockActions): LockAction {
  const ranks = changes.map((change) => lockActions.indexOf(actions[change.class]));
  return lockActions[Math.max(0, ...ranks)]!;
}

export interface Judged {
  readonly approved: LockedServer | undefined;
  readonly drifts: readonly Drift[];
  readonly actions: LockActions | undefined;
}

/** The lists as clients get them. The same object if nothing is pinned or hidden. */
export function* listsWith(lists: ServerLists, { approved, drifts, actions }: Judged): Sliced<ServerLists> {
  if (!actions) return lists;
  if (drifts.some((drift) => drift.kind === "source" && effectOf(drift, actions) === "hidden")) {
    return { tools: [], prompts: [], templates: [], resources: [] };
  }
  const ofResources = drifts.find(({ kind }) => kind === "resources");
  const effects = new Map(drifts.map((drift) => [`${drift.kind} ${drift.name}`, { drift, actions }]));
  const next: { -readonly [Kind in keyof ServerLists]: ServerLists[Kind] } = { ...lists };
  for (const kind of surfaceKinds) {
    const seen = new Set<string>();
    const admit = (definition: Definition): Definition | undefined => {
      const name = identifierOf(kind, definition);
      // The lock cannot know what has no name.
      if (name === undefined) return undefined;
      // Of entries with one name, the first is the one that was compared.
      if (seen.has(name)) return undefined;
      seen.add(name);
      const found = effects.get(`${kindNames[kind]} ${name}`);
      if (!found) return definition;
      const effect = effectOf(found.drift, actions);
      if (effect === "listed") return definition;
      return effect === "pinned" ? pinned(kind, found.drift, approved) : undefined;
    };
    const admitted = yield* mapped(lists[kind], admit);
    if (admitted.every((definition, i) => definition === lists[kind][i])) continue;
    const kept = admitted.filter((definition) => definition !== undefined);
    setHints(kept, hintsOf(lists[kind]));
    next[kind] = kept;
  }
  if (ofResources) {
    const effect = effectOf(ofResources, actions);
    if (effect !== "listed") next.resources = yield* heldResources(lists.resources, effect, approved?.resources);
  }
  return (Object.keys(next) as (keyof ServerLists)[]).every((kind) => next[kind] === lists[kind]) ? lists : next;
}

function* heldResources(
  resources: readonly Definition[],
  effect: Effect,
  approved: LockedList | undefined,
): Sliced<readonly Definition[]> {
  if (effect !== "pinned") return [];
  const known = new Set(approved?.digests);
  const held = yield* mapped(
    resources,
    (resource) => (known.has(resourceDigest(resource)) ? resource : bareResource(resource)),
    ({ text }) => 4 * textCost(text),
  );
  setHints(held, hintsOf(resources));
  return held;
}

/** A resource without the texts that nobody approved: its URI, its type and its size. */
export function bareResource({ value }: Definition): Definition {
  const { uri, mimeType, size } = value;
  const bare = {
    uri,
    name: uri,
    ...(typeof mimeType === "string" && /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(mimeType) && { mimeType }),
    ...(typeof size === "number" && { size }),
  };
  return { text: JSON.stringify(bare), value: bare };
}

/**
 * The approved form. Without its output schema if results have another form now: clients would
 * refuse them.
 */
function pinned(
  kind: SurfaceKind,
  { name, changes }: Drift,
  approved: LockedServer | undefined,
): Definition | undefined {
  const definition = approved?.[kind].get(name)?.definition;
  if (!definition || !changes.some(({ changesOutput }) => changesOutput)) return definition;
  const text = cutMembers(definition.text, (key) => key === "outputSchema");
  return { text, value: JSON.parse(text) as Definition["value"] };
}

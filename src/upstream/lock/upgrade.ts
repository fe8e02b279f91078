/**
 * What a new version of a server offers before it takes over, and whether the lock lets it. Pure.
 *
 * Invariant: a new version takes over by itself only if nothing in it is held: neither compared
 * with what was approved, nor, where the running one has the same, already hidden from clients.
 */
import type { Drift } from "./drift.ts";
import { actionOf, type LockActions } from "./effect.ts";
import type { Comparison } from "./lock.ts";
import { originOf, type Source, sourceKeys } from "./source.ts";
import { digestOf } from "./surface.ts";

/** What a version that runs aside offers. */
export interface Offer extends Comparison {
  /** Identifies what it offers and where it comes from: who approves it has seen both. */
  readonly digest: string;
}

export function offerOf(comparison: Comparison): Offer {
  const { digest, source } = comparison.current;
  return { ...comparison, digest: digestOf(`${digest} ${sourceKeys.map((key) => source[key] ?? "").join("\n")}`) };
}

/**
 * The differences that make the offer wait. `running`: what the running version has.
 */
export function heldBack(offer: Comparison, running: readonly Drift[], actions: LockActions | undefined): Drift[] {
  if (!actions) return [];
  const known = new Set(running.map(keyOf));
  return offer.drifts.filter((drift) => isHeld(drift, actions) && !known.has(keyOf(drift)));
}

function isHeld(drift: Drift, actions: LockActions): boolean {
  if (drift.kind === "resources") return false;
  const action = actionOf(drift, actions);
  // What is gone has no form that could be pinned.
  return drift.change === "removed" ? action !== "pass" : action === "hold";
}

function keyOf({ kind, name, change, after }: Drift): string {
  return JSON.stringify([kind, name, change, after]);
}

/** Where a version comes from, in words. */
export function versionText(source: Source): string {
  return source.version === undefined ? originOf(source) : `${originOf(source)} ${source.version}`;
}

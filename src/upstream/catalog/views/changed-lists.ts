/** Compares two snapshots as clients see them, in slices. */

import { type Sliced, textCost } from "../../../lib/timing/slices.ts";
import type { ChangeKind } from "../../../mcp/protocol/methods.ts";
import type { Snapshot } from "../snapshot.ts";

/** Returns the lists that look different. */
export function* changedLists({ pagers: before }: Snapshot, { pagers: after }: Snapshot): Sliced<ChangeKind[]> {
  const kinds: ChangeKind[] = [];
  if (!(yield* sameTexts(before.tools.entries, after.tools.entries))) kinds.push("tools");
  if (!(yield* sameTexts(before.prompts.entries, after.prompts.entries))) kinds.push("prompts");
  const sameResources = yield* sameTexts(before.resources.entries, after.resources.entries);
  if (!sameResources || !(yield* sameTexts(before.templates.entries, after.templates.entries))) {
    kinds.push("resources");
  }
  return kinds;
}

interface Text {
  readonly text: string;
}

export function* sameTexts(a: readonly Text[], b: readonly Text[]): Sliced<boolean> {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (a[i] === b[i]) continue;
    if (a[i]!.text !== b[i]!.text) return false;
    yield textCost(a[i]!.text);
  }
  return true;
}

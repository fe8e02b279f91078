/**
 * A snapshot as clients with a visibility see it.
 *
 * Pure: the result depends on the snapshot and the visibility alone. Entries keep the names that
 * they have in the snapshot, so a tool has one name in all views. The exception is a server that is
 * shown alone: it keeps its own names and URIs, and the gateway adds no tools to it.
 */

import type { Sliced } from "../../../lib/timing/slices.ts";
import type { Visibility } from "../../../mcp/protocol/principal.ts";
import type { EntryOverride, NamePolicy } from "../candidates.ts";
import { buildSnapshot, type Snapshot, sourceOf } from "../snapshot.ts";

export function* visibleSnapshot(base: Snapshot, visibility: Visibility): Sliced<Snapshot> {
  if (visibility.server !== undefined) return yield* aloneSnapshot(base, visibility, visibility.server);
  const { configured, settings } = sourceOf(base);
  const mode = visibility.expose ?? settings.exposure.mode;
  const exposure = { ...settings.exposure, mode, kind: visibility.kind };
  return yield* buildSnapshot(configured, { ...settings, visibility, exposure }, base);
}

function* aloneSnapshot(base: Snapshot, visibility: Visibility, only: string): Sliced<Snapshot> {
  const { configured, settings } = sourceOf(base);
  const servers = configured
    .filter(({ id }) => id === only)
    .map((server) => ({ ...server, prefix: "", expose: undefined, tools: withoutAliases(server.tools) }));
  const view = yield* buildSnapshot(servers, {
    ...settings,
    maxNameLength: Number.MAX_SAFE_INTEGER,
    uris: "raw",
    local: [],
    localInAll: [],
    exposure: { ...settings.exposure, mode: "all" },
    visibility,
  });
  // The ids of tasks are the same in all views.
  const { prefixOf, serverOfPrefix } = base.resources;
  return { ...view, resources: { ...view.resources, prefixOf, serverOfPrefix } };
}

function withoutAliases(policy: NamePolicy): NamePolicy {
  const overrides = Object.entries(policy.overrides).map(([name, { alias: _, ...rest }]): [string, EntryOverride] => [
    name,
    rest,
  ]);
  return { ...policy, overrides: Object.fromEntries(overrides) };
}

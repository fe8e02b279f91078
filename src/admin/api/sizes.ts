/** Counts each server's items and the token cost of its tools, once for each snapshot. */
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import { toolTokens } from "../../upstream/catalog/tool-tokens.ts";
import type { TokenTotals } from "./schema.ts";

interface Sizes {
  tools: number;
  prompts: number;
  resources: number;
  templates: number;
  tokens: number;
}

export const noSizes = (): Sizes => ({ tools: 0, prompts: 0, resources: 0, templates: 0, tokens: 0 });

interface SnapshotSizes {
  readonly servers: ReadonlyMap<string, Sizes>;
  readonly tokens: TokenTotals;
}

const measured = new WeakMap<Snapshot, SnapshotSizes>();

export function sizesOf(snapshot: Snapshot): SnapshotSizes {
  const known = measured.get(snapshot);
  if (known) return known;
  const servers = new Map(snapshot.servers.map(({ id }) => [id, noSizes()]));
  const at = (id: string): Sizes => servers.get(id) ?? noSizes();
  const tokens = { all: 0, own: 0, listed: 0 };
  for (const entry of snapshot.tools.entries) {
    const cost = toolTokens(entry);
    const sizes = at(entry.serverId);
    sizes.tools++;
    sizes.tokens += cost;
    tokens.all += cost;
    if (snapshot.exposure.isListed(entry)) tokens.listed += cost;
  }
  for (const definition of snapshot.local) tokens.own += toolTokens(definition);
  tokens.listed += tokens.own;
  for (const { serverId } of snapshot.prompts.entries) at(serverId).prompts++;
  for (const { serverId } of snapshot.resources.resources) at(serverId).resources++;
  for (const { serverId } of snapshot.resources.templates) at(serverId).templates++;
  const sizes = { servers, tokens };
  measured.set(snapshot, sizes);
  return sizes;
}

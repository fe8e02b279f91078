/**
 * Decides which tools clients see in their list and which they find only by search. Unlisted tools
 * stay callable.
 *
 * Pure. A server's setting replaces the gateway's. "auto" lists everything while the estimated size
 * is under the budget. Above it, only the gateway's own tools and those listed by a server's
 * setting remain.
 */
import type { Definition } from "./definitions.ts";
import type { NamedEntry } from "./named.ts";
import { toolTokens } from "./tool-tokens.ts";

export type ServerExposure = "all" | "search" | { readonly pinned: readonly string[] };

export interface ExposureSettings {
  readonly mode: "all" | "search" | "auto";
  /** Used by "auto" only. */
  readonly budgetTokens: number;
}

export interface Exposure {
  /** The effective mode: "auto" resolves to one of these. */
  readonly mode: "all" | "search";
  readonly listsAll: boolean;
  isListed(entry: NamedEntry): boolean;
}

export interface ExposureSource {
  readonly servers: readonly { readonly id: string; readonly expose?: ServerExposure | undefined }[];
  readonly tools: readonly NamedEntry[];
  /** The gateway's own tools. */
  readonly local: readonly Definition[];
}

export function decideExposure(source: ExposureSource, settings: ExposureSettings): Exposure {
  const own = new Map<string, (entry: NamedEntry) => boolean>();
  for (const { id, expose } of source.servers) if (expose !== undefined) own.set(id, ruleOf(expose));
  const listedIn = (mode: "all" | "search"): Exposure => ({
    mode,
    listsAll: mode === "all" && own.size === 0,
    isListed: (entry) => own.get(entry.serverId)?.(entry) ?? mode === "all",
  });
  if (settings.mode !== "auto") return listedIn(settings.mode);
  const all = listedIn("all");
  return isUnder(settings.budgetTokens, source, all) ? all : listedIn("search");
}

function ruleOf(expose: ServerExposure): (entry: NamedEntry) => boolean {
  if (typeof expose === "string") return () => expose === "all";
  const pinned = new Set(expose.pinned);
  return ({ name, exposed, override }) =>
    pinned.has(name) || pinned.has(exposed) || (override?.alias !== undefined && pinned.has(override.alias));
}

function isUnder(budget: number, { tools, local }: ExposureSource, { isListed }: Exposure): boolean {
  let tokens = 0;
  for (const definition of local) tokens += toolTokens(definition);
  for (const entry of tools) {
    if (tokens >= budget) return false;
    if (isListed(entry)) tokens += toolTokens(entry);
  }
  return tokens < budget;
}

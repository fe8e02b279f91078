/**
 * Decides which tools clients see in their list and which they find only by search. Unlisted tools
 * stay callable.
 *
 * Pure. A server's setting replaces the gateway's. To a client that searches its tools itself,
 * "auto" lists everything. To others it does so while the estimated size is under the budget and
 * the number under the client's cap. Above, only the gateway's own tools, pins and those listed by
 * a server's setting remain. "auto" never lists a name that is too long for the client.
 */
import type { ClientKind } from "../../mcp/protocol/principal.ts";
import type { Definition } from "./definitions.ts";
import type { NamedEntry } from "./named.ts";
import { toolTokens } from "./tool-tokens.ts";

export type ServerExposure = "all" | "search" | { readonly pinned: readonly string[] };

export interface ExposureSettings {
  readonly mode: "all" | "search" | "auto";
  /** Used by "auto" only. */
  readonly budgetTokens: number;
  /** The kind of client, if it is known. */
  readonly kind?: ClientKind | undefined;
}

export interface Exposure {
  /** The effective mode: "auto" resolves to one of these. */
  readonly mode: "all" | "search";
  readonly listsAll: boolean;
  isListed(entry: NamedEntry): boolean;
  /** Whether clients that search their tools themselves should load this one at once. */
  isPinned(entry: NamedEntry): boolean;
}

export interface ExposureSource {
  readonly servers: readonly { readonly id: string; readonly expose?: ServerExposure | undefined }[];
  readonly tools: readonly NamedEntry[];
  /** The gateway's own tools, where all of the servers' are listed and where they are not. */
  localIn(mode: "all" | "search"): readonly Definition[];
}

export function decideExposure(source: ExposureSource, settings: ExposureSettings): Exposure {
  const { kind = NO_KIND } = settings;
  const own = new Map<string, Rule>();
  const pins = new Map<string, Rule>();
  for (const { id, expose } of source.servers) {
    if (expose === undefined) continue;
    own.set(id, ruleOf(expose));
    if (typeof expose === "object") pins.set(id, own.get(id)!);
  }
  const pinned = new Set(kind.pinned);
  const isPinned: Rule = (entry) => pinned.has(entry.exposed) || pins.get(entry.serverId)?.(entry) === true;
  const listedIn = (mode: "all" | "search"): Exposure => ({
    mode,
    listsAll: mode === "all" && own.size === 0,
    isListed: (entry) => pinned.has(entry.exposed) || (own.get(entry.serverId)?.(entry) ?? mode === "all"),
    isPinned,
  });
  if (settings.mode !== "auto") return listedIn(settings.mode);
  if (kind.searchesTools) return { mode: "all", listsAll: true, isListed: () => true, isPinned };
  const all = withoutLongNames(listedIn("all"), kind.maxNameLength);
  if (fits(all, source, { budget: settings.budgetTokens, maxTools: kind.maxTools })) return all;
  return capped(withoutLongNames(listedIn("search"), kind.maxNameLength), source, kind.maxTools);
}

type Rule = (entry: NamedEntry) => boolean;

const NO_KIND: ClientKind = {};

function ruleOf(expose: ServerExposure): Rule {
  if (typeof expose === "string") return () => expose === "all";
  const pinned = new Set(expose.pinned);
  return ({ name, exposed, override }) =>
    pinned.has(name) || pinned.has(exposed) || (override?.alias !== undefined && pinned.has(override.alias));
}

function withoutLongNames(exposure: Exposure, longest: number | undefined): Exposure {
  if (longest === undefined) return exposure;
  const isListed: Rule = (entry) => entry.exposed.length <= longest && exposure.isListed(entry);
  return { ...exposure, listsAll: false, isListed };
}

interface Room {
  readonly budget: number;
  readonly maxTools: number | undefined;
}

function fits({ isListed }: Exposure, { tools, localIn }: ExposureSource, { budget, maxTools }: Room): boolean {
  let tokens = 0;
  let count = 0;
  for (const entry of tools) {
    if (!isListed(entry)) continue;
    count++;
    tokens += toolTokens(entry);
    if (tokens >= budget) return false;
  }
  const local = localIn(count < tools.length ? "search" : "all");
  for (const definition of local) tokens += toolTokens(definition);
  return tokens < budget && (maxTools === undefined || count + local.length <= maxTools);
}

/** Never lists more tools than the client takes, the gateway's own included. */
function capped(exposure: Exposure, { tools, localIn }: ExposureSource, maxTools: number | undefined): Exposure {
  const room = maxTools === undefined ? tools.length : Math.max(0, maxTools - localIn("search").length);
  const listed = tools.filter(exposure.isListed);
  if (listed.length <= room) return exposure;
  const kept = new Set(listed.slice(0, room));
  return { ...exposure, isListed: (entry) => kept.has(entry) };
}

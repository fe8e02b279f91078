/**
 * One immutable view of the whole catalog: the four combined lists, their look-ups and their pages.
 *
 * Pure: servers and settings in, snapshot out. Nothing changes a snapshot; the catalog replaces it.
 * A snapshot is built in slices and then complete: no reader computes a list, a page's entries or
 * the tokens of a tool.
 */

import { finish, type Sliced } from "../../lib/timing/slices.ts";
import type { Claims } from "../../mcp/identifiers/claims.ts";
import { nameClaims } from "../../mcp/identifiers/names.ts";
import { type ListKind, listMethods } from "../../mcp/protocol/methods.ts";
import type { Visibility } from "../../mcp/protocol/principal.ts";
import type { NamePolicy } from "./candidates.ts";
import { byExposed, changedList } from "./changed-list.ts";
import { type CacheHints, combineHints, type Definition, hintsOf, type ServerLists, stringOf } from "./definitions.ts";
import { decideExposure, type Exposure, type ExposureSettings, type ServerExposure } from "./exposure.ts";
import { combineNamed, type NamedList } from "./named.ts";
import { byPlace, inServerOrder, type Placed } from "./order.ts";
import { createPager, type ListOrder, type PageEntry, type Pager } from "./pages.ts";
import { withPins } from "./pins.ts";
import { resourcePages, templatePages } from "./resources/pages.ts";
import { createResourceIndex, type ResourceIndex } from "./resources/resource-index.ts";
import { type ResourceView, resourceViewOf } from "./resources/server-resources.ts";
import { DISABLED, type Standing } from "./standing.ts";
import { namedFilter, resourceFilter } from "./views/visible-entries.ts";
import { visibleNames } from "./views/visible-names.ts";

export interface ServerView {
  readonly id: string;
  readonly prefix: string;
  readonly tools: NamePolicy;
  /** Replaces the gateway's exposure for this server. */
  readonly expose?: ServerExposure | undefined;
  readonly lists: ServerLists;
  readonly standing: Standing;
}

export interface SnapshotSettings {
  readonly maxNameLength: number;
  /** Whether `git_status` of `git` is listed as `git_git_status`. Default: true. */
  readonly repeatPrefix?: boolean;
  readonly uris: "prefixed" | "flat" | "raw";
  readonly pageSize: number;
  /** The order of entries in pages. Default: sorted. */
  readonly order?: ListOrder;
  /**
   * The gateway's own tools where not all of the servers' are listed. Their names take precedence
   * over any server's.
   */
  readonly local: readonly Definition[];
  /** Those where all of the servers' tools are listed: some of `local`. Default: the same. */
  readonly localInAll?: readonly Definition[];
  /** The one of these that is only there for tools whose results may be kept. */
  readonly reader?: Definition | undefined;
  readonly exposure: ExposureSettings;
  /** Whether clients may see different lists: then no list is for shared caches. */
  readonly viewsDiffer?: boolean;
  /** What is left out, under the names that everybody uses. Default: nothing. */
  readonly visibility?: Visibility | undefined;
}

export interface Snapshot {
  /** All servers except the disabled and the hidden ones. */
  readonly servers: readonly ServerView[];
  /** Whether the server is not hidden. */
  shows(serverId: string): boolean;
  /** The standing of a server. Servers that are not configured or hidden count as disabled. */
  standing(serverId: string): Standing;
  /** The name prefixes of all configured servers, regardless of their state. */
  readonly claims: Claims;
  /** The servers' tools, listed or not. The gateway's own are in `local` and in the pages. */
  readonly tools: NamedList;
  readonly local: readonly Definition[];
  /** The gateway's own tools that another mode would give. */
  localIn(mode: Exposure["mode"]): readonly Definition[];
  readonly exposure: Exposure;
  /** The exposure that another mode would give. */
  exposureIn(mode: Exposure["mode"]): Exposure;
  readonly prompts: NamedList;
  readonly resources: ResourceIndex;
  readonly pagers: Readonly<Record<ListKind, Pager>>;
  /** How long a combined list may be cached, and by whom. */
  cacheHints(kind: ListKind): CacheHints;
  /** The definition of an entry of `resources`, by server and position. */
  resource(serverId: string, position: number): Definition | undefined;
  template(serverId: string, position: number): Definition | undefined;
}

export function createSnapshot(configured: readonly ServerView[], settings: SnapshotSettings): Snapshot {
  return finish(buildSnapshot(configured, settings));
}

/**
 * Builds the view of all configured servers. The result does not depend on `before`, which only
 * saves work.
 */
export function* buildSnapshot(
  configured: readonly ServerView[],
  settings: SnapshotSettings,
  before?: Snapshot,
): Sliced<Snapshot> {
  const servers = configured.filter(({ standing }) => standing.kind !== "disabled");
  const reserved = new Set(settings.local.map((definition) => stringOf(definition, "name") ?? ""));
  const claims = claimsOf(configured, settings, before?.claims);
  const options = { maxLength: settings.maxNameLength, reserved, claims };
  const { repeatPrefix, visibility } = settings;
  const allTools = yield* combineNamed(
    servers.map(({ id, prefix, tools: policy, lists }) => ({
      serverId: id,
      prefix,
      policy,
      repeatPrefix,
      definitions: lists.tools,
    })),
    options,
    before?.tools,
  );
  const allPrompts = yield* combineNamed(
    servers.map(({ id, prefix, lists }) => ({ serverId: id, prefix, repeatPrefix, definitions: lists.prompts })),
    { ...options, reserved: new Set() },
    before?.prompts,
  );
  const tools = visibility ? yield* visibleNames(allTools, namedFilter("tool", visibility)) : allTools;
  const prompts = visibility ? yield* visibleNames(allPrompts, namedFilter("prompt", visibility)) : allPrompts;
  const showsServer = (serverId: string): boolean => visibility === undefined || visibility.showsServer(serverId);
  const shown = visibility ? servers.filter(({ id }) => showsServer(id)) : servers;
  const keeps = tools.entries.some(({ results }) => results?.over === "spill");
  const useful = (own: readonly Definition[]) => (keeps ? own : own.filter((tool) => tool !== settings.reader));
  const [localInSearch, localInAll] = [settings.local, settings.localInAll ?? settings.local].map(useful);
  const localIn = (mode: Exposure["mode"]): readonly Definition[] => (mode === "all" ? localInAll! : localInSearch!);
  const exposureIn = (wanted: ExposureSettings) =>
    decideExposure({ servers: shown, tools: tools.entries, localIn }, wanted);
  const exposure = exposureIn(settings.exposure);
  const serverIds = configured.map(({ id }) => id);
  const offered = before && resourcesIn.get(before);
  const views: ResourceView[] = [];
  for (const server of servers) views.push(yield* resourceViewOf(server, offered?.views));
  const isSame =
    offered?.mode === settings.uris && sameElements(offered.views, views) && sameElements(offered.serverIds, serverIds);
  const same = isSame && offered.visibility === visibility?.key ? offered : undefined;
  const byServer = new Map(views.map((view) => [view.id, view]));
  const shows = visibility && resourceFilter(byServer, visibility);
  const resources =
    same?.index ?? (yield* createResourceIndex({ servers: views, mode: settings.uris, serverIds, shows }));
  const { order, pageSize } = settings;
  const isSamePages = same?.pageSize === pageSize && same.order === order;
  const known = isSamePages ? before?.pagers : undefined;
  const pagerOf = (kind: ListKind, entries: readonly PageEntry[]): Pager =>
    createPager({ member: memberOf(kind), entries, pageSize, order });
  const arranged = <Entry extends Placed>(entries: readonly Entry[]): readonly Entry[] =>
    order === "server" ? byPlace(entries, servers, ({ position }) => position) : entries;
  const shownTools = exposure.listsAll ? tools.entries : tools.entries.filter(exposure.isListed);
  const listed = shownTools.some(exposure.isPinned) ? withPins(shownTools, exposure) : shownTools;
  // Tools that are not listed can only be found by search.
  const own = localIn(listed.length < tools.entries.length ? "search" : exposure.mode);
  const local = own.map(localPageEntry).sort(byExposed);
  const isAlone = visibility?.server !== undefined;
  const sources = {
    resources: {
      entries: arranged(resources.resources),
      definitionOf: ({ serverId, position }: Placed) => byServer.get(serverId)!.resources[position]!.definition,
      isAlone,
    },
    templates: {
      entries: arranged(resources.templates),
      definitionOf: ({ serverId, position }: Placed) => byServer.get(serverId)!.templates[position]!.definition,
      isAlone,
    },
  };
  const pagers = {
    tools: pagerOf(
      "tools",
      order === "server"
        ? [...inServerOrder(listed, servers, "tools"), ...local]
        : yield* changedList<PageEntry>(listed, [], local),
    ),
    prompts: pagerOf(
      "prompts",
      order === "server" ? inServerOrder(prompts.entries, servers, "prompts") : prompts.entries,
    ),
    resources: known?.resources ?? pagerOf("resources", yield* resourcePages(sources.resources)),
    templates: known?.templates ?? pagerOf("templates", yield* templatePages(sources.templates)),
  };

  const snapshot: Snapshot = {
    servers: shown,
    shows: showsServer,
    standing: standingIn(configured, showsServer),
    claims,
    tools,
    local: own,
    localIn,
    exposure,
    exposureIn: (mode) => exposureIn({ ...settings.exposure, mode }),
    prompts,
    resources,
    cacheHints: (kind) =>
      combineHints(
        shown
          .map(({ lists }) => lists[kind])
          .filter(isFilled)
          .map((list) => (settings.viewsDiffer ? { ...hintsOf(list), cacheScope: "private" } : hintsOf(list))),
      ),
    resource: (serverId, position) => byServer.get(serverId)?.resources[position]?.definition,
    template: (serverId, position) => byServer.get(serverId)?.templates[position]?.definition,
    pagers,
  };
  builtFrom.set(snapshot, { configured, settings });
  const { uris: mode } = settings;
  const filter = visibility?.key;
  resourcesIn.set(snapshot, { views, serverIds, mode, visibility: filter, pageSize, order, index: resources });
  return snapshot;
}

/** The inputs of a snapshot that the next one can reuse. Most changes affect tools only. */
interface Offered {
  readonly views: readonly ResourceView[];
  /** The ids of all configured servers. */
  readonly serverIds: readonly string[];
  readonly mode: SnapshotSettings["uris"];
  /** The key of the snapshot's visibility. */
  readonly visibility: string | undefined;
  readonly pageSize: number;
  readonly order: ListOrder | undefined;
  readonly index: ResourceIndex;
}

const resourcesIn = new WeakMap<Snapshot, Offered>();

function sameElements(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((element, i) => element === b[i]);
}

/** Returns the same view with new standings. No server may have been disabled or enabled. */
export function withStandings(before: Snapshot, configured: readonly ServerView[]): Snapshot {
  const standings = new Map(configured.map(({ id, standing }) => [id, standing]));
  const servers = before.servers.map((server) => {
    const standing = standings.get(server.id) ?? server.standing;
    return standing === server.standing ? server : { ...server, standing };
  });
  const after = { ...before, servers, standing: standingIn(configured, before.shows) };
  builtFrom.set(after, { ...sourceOf(before), configured });
  const offered = resourcesIn.get(before);
  if (offered) resourcesIn.set(after, offered);
  return after;
}

/** What a snapshot was built from. */
interface Source {
  readonly configured: readonly ServerView[];
  readonly settings: SnapshotSettings;
}

const builtFrom = new WeakMap<Snapshot, Source>();

export function sourceOf(snapshot: Snapshot): Source {
  return builtFrom.get(snapshot)!;
}

function standingIn(configured: readonly ServerView[], shows: Snapshot["shows"]): Snapshot["standing"] {
  const visible = configured.filter(({ id }) => shows(id));
  const standings = new Map(visible.map(({ id, standing }) => [id, standing]));
  return (serverId) => standings.get(serverId) ?? DISABLED;
}

function claimsOf(
  configured: readonly ServerView[],
  { maxNameLength }: SnapshotSettings,
  before: Claims | undefined,
): Claims {
  const claims = nameClaims(
    configured.map(({ id, prefix }) => ({ serverId: id, prefix })),
    maxNameLength,
  );
  return before?.equals(claims) ? before : claims;
}

function isFilled(definitions: readonly Definition[]): boolean {
  return definitions.length > 0;
}

function memberOf(kind: ListKind): string {
  return [...listMethods.values()].find((method) => method.kind === kind)!.member;
}

function localPageEntry(definition: Definition): PageEntry {
  return {
    exposed: stringOf(definition, "name") ?? "",
    // Made when it is listed.
    get text() {
      return definition.text;
    },
  };
}

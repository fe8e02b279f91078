/**
 * All resources and templates of all servers, and the look-up from any name to its owner.
 *
 * Invariants: the index is immutable. Every mode accepts every form of a name, in one fixed order.
 * A name under a configured server's prefix belongs to that server alone. A URI that is neither
 * listed nor matched by a template is unknown, and no server hears of it. A shared name is
 * ambiguous, never a guess. The cost of a look-up does not depend on the number of resources.
 */

import { lazy } from "../../../lib/structures/lazy.ts";
import { each, type Sliced, sorted } from "../../../lib/timing/slices.ts";
import { MAX_URI_LENGTH, MatchBudget, URI_CELLS } from "../../../lib/uri-template/match-budget.ts";
import { collapsedId, isAppUri, isWebUri, mayDiffer, normalForm, prefixed } from "../../../mcp/identifiers/uris.ts";
import { createServerNames, type ServerNames } from "../server-names.ts";
import {
  listResources,
  listTemplates,
  type ResourceEntry,
  type ResourceServer,
  type Shows,
  type TemplateEntry,
  type TemplateProblem,
  type UriMode,
} from "./entries.ts";
import { rewriteLike } from "./forms.ts";
import { createLookup } from "./lookup.ts";
import { createTemplateFinder, type FiledTemplate, type TemplateFinder, type TemplateHit } from "./templates.ts";

export interface FoundResource {
  readonly kind: "found";
  readonly serverId: string;
  /** The server's own URI or template, as sent to the server. */
  readonly uri: string;
  readonly via: "resource" | "template";
  /** The index in the server's resources or templates, depending on `via`. */
  readonly position: number;
}

export type ResourceResolution =
  | FoundResource
  | { readonly kind: "ambiguous"; readonly candidates: readonly string[] }
  | { readonly kind: "unknown" };

export interface ResourceUpdate {
  readonly serverId: string;
  /** The name that the client subscribed with. */
  readonly form: string;
  /** The server's URI that this name resolved to. */
  readonly uri: string;
  /** The server's URI that was updated: the same one, or one below it. */
  readonly updated: string;
}

export interface ResourceIndex {
  /** Sorted by `exposed`. */
  readonly resources: readonly ResourceEntry[];
  /** Sorted by `exposed`. */
  readonly templates: readonly TemplateEntry[];
  readonly problems: readonly TemplateProblem[];
  /**
   * Finds the owner of a resource by any of its names. Unknown also if the match budget runs out.
   */
  resolve(uri: string): ResourceResolution;
  /** Finds the owner of a template by any of its names, or of a resource. */
  resolveTemplate(ref: string): ResourceResolution;
  /** The configured servers whose prefix the name has, regardless of their current lists. */
  claimants(uri: string): readonly string[];
  /** The configured servers that could list a name without any server's prefix. */
  mayHave(uri: string): readonly string[];
  /**
   * Returns the clients' name for a server's URI if the server lists it or one of its templates
   * matches. `shared` is one budget for several URIs.
   */
  expose(serverId: string, originalUri: string, shared?: MatchBudget): string | undefined;
  /** Returns the clients' name for a server's URI that `expose` does not know. */
  exposeUnlisted(serverId: string, originalUri: string): string;
  /** Whether clients know listed resources by their servers' own URIs. */
  readonly listsRaw: boolean;
  /** Returns the servers and their own URIs that a name which is in no list can mean. */
  unlisted(name: string): readonly { readonly serverId: string; readonly uri: string }[];
  /** Whether a name can mean a URI of this server that the viewer must not see. */
  isHidden(name: string, serverId: string): boolean;
  /** The URI scheme of a server, and the server of a scheme. */
  prefixOf(serverId: string): string;
  serverOfPrefix(prefix: string): string | undefined;
  /** Returns the name to use when telling a subscriber about an update. */
  formOf(update: ResourceUpdate): string;
}

export interface ResourceIndexOptions {
  /** In config order. Results are cached by array: pass a new array when a list changes. */
  readonly servers: readonly ResourceServer[];
  readonly mode: UriMode;
  /**
   * The ids of all configured servers, so that prefixes stay the same while some are disconnected.
   */
  readonly serverIds?: readonly string[];
  /** Leaves out what it returns false for. Names stay those that everybody else uses. */
  readonly shows?: Shows | undefined;
}

const UNKNOWN: ResourceResolution = { kind: "unknown" };

export function* createResourceIndex(options: ResourceIndexOptions): Sliced<ResourceIndex> {
  const serverIds = [...new Set([...(options.serverIds ?? []), ...options.servers.map(({ id }) => id)])];
  const names = createServerNames(serverIds);
  const { prefixes } = names;
  const { shows } = options;
  const resources = yield* listResources(options.servers, { mode: options.mode, names }, shows);
  const templates = yield* listTemplates(options.servers, { mode: options.mode, names }, shows);
  const resourceLookup = yield* createLookup(resources, names, {
    of: (entry) => entry.uri,
    read: ({ uris }) => uris,
  });
  const templateLookup = yield* createLookup(templates, names, {
    of: (entry) => entry.uriTemplate,
    read: ({ expansions }) => expansions,
  });
  const finders = createFinders(templates.parsed);
  const byCollapsedId = yield* uniqueCollapsedIds(resources.entries, names);
  const byNormalForm = lazy(() => uniqueNormalForms(resources.entries));

  const throughTemplate = (uri: string, budget: MatchBudget): TemplateHit<TemplateEntry> | undefined => {
    if (uri.length > MAX_URI_LENGTH) return undefined;
    const reading = names.read(uri);
    if (reading === undefined) return finders.listed.find(uri, budget) ?? finders.raw.find(uri, budget);
    const finder = finders.own.get(reading.serverId);
    for (const expansion of reading.expansions) {
      const hit = finder?.find(expansion, budget);
      if (hit !== undefined) return hit;
    }
    return undefined;
  };

  function resolve(uri: string, budget = new MatchBudget(URI_CELLS)): ResourceResolution {
    const entries = resourceLookup.byAnyName(uri);
    if (entries.length > 1) return { kind: "ambiguous", candidates: entries.map(({ exposed }) => exposed).sort() };
    const entry = entries[0];
    if (entry !== undefined) return foundResource(entry);
    const hit = throughTemplate(uri, budget);
    if (hit !== undefined) {
      if (shows && !shows.resource(hit.owner.serverId, hit.uri, undefined)) return UNKNOWN;
      return {
        kind: "found",
        serverId: hit.owner.serverId,
        uri: hit.uri,
        via: "template",
        position: hit.owner.position,
      };
    }
    const other = byCollapsedId.get(uri) ?? byNormalForm().get(uri);
    return other === undefined ? UNKNOWN : foundResource(other);
  }

  function resolveTemplate(ref: string): ResourceResolution {
    const entries = templateLookup.byAnyName(ref);
    if (entries.length > 1) return { kind: "ambiguous", candidates: entries.map(({ exposed }) => exposed).sort() };
    const entry = entries[0];
    if (entry === undefined) return resolve(ref);
    const { serverId, uriTemplate, position } = entry;
    return { kind: "found", serverId, uri: uriTemplate, via: "template", position };
  }

  const leadsTo = (name: string, to: { serverId: string; uri: string }, budget?: MatchBudget) => {
    const { serverId, uri } = to;
    const resolved = resolve(name, budget);
    return resolved.kind === "found" && resolved.serverId === serverId && resolved.uri === uri;
  };

  function expose(serverId: string, originalUri: string, shared?: MatchBudget): string | undefined {
    const entry = resourceLookup.own(serverId, originalUri);
    if (entry !== undefined) return entry.exposed;
    if (isAppUri(originalUri)) return originalUri;
    const budget = new MatchBudget(URI_CELLS, shared);
    if (finders.own.get(serverId)?.find(originalUri, budget) === undefined) return undefined;
    const prefixedForm = prefixed(prefixes.get(serverId) ?? "", originalUri);
    const flatForm = `${serverId}_${originalUri}`;
    const preferred = { prefixed: prefixedForm, flat: flatForm, raw: originalUri }[options.mode];
    // The name must lead back to this server: another server's entry or template may claim the
    // first choice.
    return [preferred, prefixedForm, flatForm].find((name) => leadsTo(name, { serverId, uri: originalUri }, budget));
  }

  function exposeUnlisted(serverId: string, uri: string): string {
    const flatForm = `${serverId}_${uri}`;
    if (options.mode === "flat" && !isWebUri(uri) && !names.flat.needsSuffix(serverId, flatForm)) return flatForm;
    // Nobody but the gateway could open a link to the web under another name.
    const staysRaw = options.mode === "raw" || isWebUri(uri);
    if (staysRaw && !names.read(uri) && resolve(uri).kind === "unknown") return uri;
    return prefixed(prefixes.get(serverId) ?? "", uri);
  }

  function unlisted(name: string): readonly { readonly serverId: string; readonly uri: string }[] {
    const all = possible(name);
    return shows ? all.filter(({ serverId, uri }) => shows.resource(serverId, uri, undefined)) : all;
  }

  function isHidden(name: string, serverId: string): boolean {
    if (!shows) return false;
    return [name, ...(names.read(name)?.uris ?? [])].some((uri) => !shows.resource(serverId, uri, undefined));
  }

  function possible(name: string): readonly { readonly serverId: string; readonly uri: string }[] {
    const reading = names.read(name);
    if (reading) return reading.uris.map((uri) => ({ serverId: reading.serverId, uri }));
    return options.mode === "raw" || isWebUri(name) ? serverIds.map((serverId) => ({ serverId, uri: name })) : [];
  }

  function formOf({ serverId, form, uri, updated }: ResourceUpdate): string {
    if (updated === uri) return form;
    const like = rewriteLike(form, uri, updated);
    const to = { serverId, uri: updated };
    if (leadsTo(like, to)) return like;
    const named = form.startsWith(`${serverId}_`) ? flatNames(serverId, updated) : [];
    const known = named.find((name) => leadsTo(name, to)) ?? expose(serverId, updated);
    if (known !== undefined) return known;
    // Neither listed nor matched: keep the client's form, unless it already names something else.
    return resolve(like).kind === "unknown" ? like : prefixed(prefixes.get(serverId) ?? "", updated);
  }

  function flatNames(serverId: string, uri: string): string[] {
    const flatIdOfEntry = resourceLookup.own(serverId, uri)?.flatId;
    return [...(flatIdOfEntry === undefined ? [] : [flatIdOfEntry]), `${serverId}_${uri}`];
  }

  return {
    resources: yield* sorted(resources.entries, byExposed),
    templates: yield* sorted(templates.entries, byExposed),
    problems: templates.problems,
    resolve: (uri) => resolve(uri),
    resolveTemplate,
    claimants: (uri) => names.read(uri)?.claimants ?? [],
    mayHave: (uri) => (options.mode === "raw" || isAppUri(uri) ? serverIds : []),
    prefixOf: (serverId) => prefixes.get(serverId) ?? "",
    serverOfPrefix: (prefix) => names.byPrefix.get(prefix),
    expose,
    exposeUnlisted,
    listsRaw: options.mode === "raw",
    unlisted,
    isHidden,
    formOf,
  };
}

function foundResource({ serverId, uri, position }: ResourceEntry): ResourceResolution {
  return { kind: "found", serverId, uri, via: "resource", position };
}

/**
 * Creates finders for the listed templates, for the servers' own spelling, and for each server
 * alone.
 */
function createFinders(parsed: ReadonlyMap<TemplateEntry, FiledTemplate<TemplateEntry>["template"]>): {
  listed: TemplateFinder<TemplateEntry>;
  raw: TemplateFinder<TemplateEntry>;
  own: ReadonlyMap<string, TemplateFinder<TemplateEntry>>;
} {
  const raw = [...parsed].map(([owner, template]) => ({ head: "", template, owner }));
  const listed = raw.map((filed) => {
    const { exposed, uriTemplate } = filed.owner;
    return { ...filed, head: exposed.slice(0, exposed.length - uriTemplate.length) };
  });
  const byServer = new Map<string, FiledTemplate<TemplateEntry>[]>();
  for (const filed of raw) {
    const group = byServer.get(filed.owner.serverId) ?? [];
    group.push(filed);
    byServer.set(filed.owner.serverId, group);
  }
  const own = new Map([...byServer].map(([id, filed]) => [id, createTemplateFinder(filed)]));
  return { listed: createTemplateFinder(listed), raw: createTemplateFinder(raw), own };
}

/** Skips ids that another configured server could claim. */
function* uniqueCollapsedIds(
  entries: readonly ResourceEntry[],
  { flat }: ServerNames,
): Sliced<Map<string, ResourceEntry>> {
  const ids = new Map<string, ResourceEntry>();
  const shared = new Set<string>();
  yield* each(entries, (entry) => {
    const id = collapsedId(entry.serverId, entry.uri);
    if (flat.needsSuffix(entry.serverId, id)) return;
    if (ids.has(id)) shared.add(id);
    ids.set(id, entry);
  });
  for (const id of shared) ids.delete(id);
  return ids;
}

/**
 * Returns the entries by the normal form of their name, if that differs. A form of two entries is
 * nobody's. An entry whose name is the form itself was found before.
 */
function uniqueNormalForms(entries: readonly ResourceEntry[]): Map<string, ResourceEntry> {
  const forms = new Map<string, ResourceEntry>();
  const shared = new Set<string>();
  for (const entry of entries) {
    if (!mayDiffer(entry.exposed)) continue;
    const form = normalForm(entry.exposed);
    if (forms.has(form)) shared.add(form);
    if (form !== entry.exposed) forms.set(form, entry);
  }
  for (const form of shared) forms.delete(form);
  return forms;
}

/** Compares code units, so that the order is the same in every locale. */
function byExposed(a: { readonly exposed: string }, b: { readonly exposed: string }): number {
  return a.exposed < b.exposed ? -1 : a.exposed > b.exposed ? 1 : 0;
}

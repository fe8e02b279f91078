/**
 * All resources and templates of all servers, and the way from any name of one to its owner.
 *
 * What must always hold: immutable once made; every name that a client may use is accepted in every
 * mode, in one fixed order; a name under the prefix of a configured server is that server's alone;
 * what is in no list and matches no template is unknown, so that no backend ever hears of it; a
 * name that several share is ambiguous, never a guess. Cost of a look-up does not depend on the
 * number of resources.
 */
import { collapsedId, isAppUri, prefixed } from "../../identifiers/uris.ts";
import { MAX_URI_LENGTH, MatchBudget, URI_CELLS } from "../../uri-template/match-budget.ts";
import { createServerNames, type ServerNames } from "../server-names.ts";
import {
  listResources,
  listTemplates,
  type ResourceEntry,
  type ResourceServer,
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
  /** The backend's own URI or template: what is sent to it. */
  readonly uri: string;
  readonly via: "resource" | "template";
  /** The index in the server's resources, or templates, by `via`. */
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
  /** The backend's URI that this name resolved to. */
  readonly uri: string;
  /** The backend's URI that was updated: the same, or one below it. */
  readonly updated: string;
}

export interface ResourceIndex {
  /** Sorted by `exposed`. */
  readonly resources: readonly ResourceEntry[];
  /** Sorted by `exposed`. */
  readonly templates: readonly TemplateEntry[];
  readonly problems: readonly TemplateProblem[];
  /**
   * The owner of a resource by any of its names. What would take too long to find out is unknown.
   */
  resolve(uri: string): ResourceResolution;
  /** The owner of a template by any of its names, or of a resource. */
  resolveTemplate(ref: string): ResourceResolution;
  /** The configured servers that a name belongs to by its prefix, whatever they list now. */
  claimants(uri: string): readonly string[];
  /** The configured servers that could list a name which is under nobody's prefix. */
  mayHave(uri: string): readonly string[];
  /**
   * The clients' name of a URI that a backend used, if the catalog or one of that server's
   * templates knows it. `shared`: for several URIs.
   */
  expose(serverId: string, originalUri: string, shared?: MatchBudget): string | undefined;
  /** The scheme that stands for a server in URIs, and the other way round. */
  prefixOf(serverId: string): string;
  serverOfPrefix(prefix: string): string | undefined;
  /** The name under which a subscriber is told of an update. */
  formOf(update: ResourceUpdate): string;
}

export interface ResourceIndexOptions {
  /**
   * In config order. What is derived from an array is kept with it: pass a new array when a list
   * changed.
   */
  readonly servers: readonly ResourceServer[];
  readonly mode: UriMode;
  /** The ids of all configured servers, so that no prefix changes while some are not connected. */
  readonly serverIds?: readonly string[];
}

const UNKNOWN: ResourceResolution = { kind: "unknown" };

export function createResourceIndex(options: ResourceIndexOptions): ResourceIndex {
  const serverIds = [...new Set([...(options.serverIds ?? []), ...options.servers.map(({ id }) => id)])];
  const names = createServerNames(serverIds);
  const { prefixes } = names;
  const resources = listResources(options.servers, { mode: options.mode, names });
  const templates = listTemplates(options.servers, { mode: options.mode, names });
  const resourceLookup = createLookup(resources, names, {
    of: (entry) => entry.uri,
    read: ({ uris }) => uris,
  });
  const templateLookup = createLookup(templates, names, {
    of: (entry) => entry.uriTemplate,
    read: ({ expansions }) => expansions,
  });
  const finders = createFinders(templates.parsed);
  const byCollapsedId = lazily(() => uniqueCollapsedIds(resources.entries, names));

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
      return {
        kind: "found",
        serverId: hit.owner.serverId,
        uri: hit.uri,
        via: "template",
        position: hit.owner.position,
      };
    }
    const collapsed = byCollapsedId().get(uri);
    return collapsed === undefined ? UNKNOWN : foundResource(collapsed);
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
    // A name is only worth giving if it leads back to this server: another's entry or template may
    // claim the first choice.
    return [preferred, prefixedForm, flatForm].find((name) => leadsTo(name, { serverId, uri: originalUri }, budget));
  }

  function formOf({ serverId, form, uri, updated }: ResourceUpdate): string {
    if (updated === uri) return form;
    const like = rewriteLike(form, uri, updated);
    const to = { serverId, uri: updated };
    if (leadsTo(like, to)) return like;
    const named = form.startsWith(`${serverId}_`) ? flatNames(serverId, updated) : [];
    const known = named.find((name) => leadsTo(name, to)) ?? expose(serverId, updated);
    if (known !== undefined) return known;
    // In no list and under no template: the same kind of name, unless that names something else.
    return resolve(like).kind === "unknown" ? like : prefixed(prefixes.get(serverId) ?? "", updated);
  }

  function flatNames(serverId: string, uri: string): string[] {
    const flatIdOfEntry = resourceLookup.own(serverId, uri)?.flatId;
    return [...(flatIdOfEntry === undefined ? [] : [flatIdOfEntry]), `${serverId}_${uri}`];
  }

  return {
    resources: sortedByExposed(resources.entries),
    templates: sortedByExposed(templates.entries),
    problems: templates.problems,
    resolve: (uri) => resolve(uri),
    resolveTemplate,
    claimants: (uri) => names.read(uri)?.claimants ?? [],
    mayHave: (uri) => (options.mode === "raw" || isAppUri(uri) ? serverIds : []),
    prefixOf: (serverId) => prefixes.get(serverId) ?? "",
    serverOfPrefix: (prefix) => names.byPrefix.get(prefix),
    expose,
    formOf,
  };
}

function foundResource({ serverId, uri, position }: ResourceEntry): ResourceResolution {
  return { kind: "found", serverId, uri, via: "resource", position };
}

/** Finders for templates as listed, as the backends wrote them, and for each server alone. */
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

/** Without those that another configured server's id could claim. */
function uniqueCollapsedIds(entries: readonly ResourceEntry[], { flat }: ServerNames): Map<string, ResourceEntry> {
  const ids = new Map<string, ResourceEntry>();
  const shared = new Set<string>();
  for (const entry of entries) {
    const id = collapsedId(entry.serverId, entry.uri);
    if (flat.needsSuffix(entry.serverId, id)) continue;
    if (ids.has(id)) shared.add(id);
    ids.set(id, entry);
  }
  for (const id of shared) ids.delete(id);
  return ids;
}

/** By code units, so that the order is the same everywhere. */
function sortedByExposed<Entry extends { readonly exposed: string }>(entries: readonly Entry[]): Entry[] {
  return [...entries].sort((a, b) => (a.exposed < b.exposed ? -1 : a.exposed > b.exposed ? 1 : 0));
}

function lazily<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

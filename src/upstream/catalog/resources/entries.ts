/**
 * Builds the lists of resources and templates as clients see them: every server's entries under
 * unique names.
 *
 * Invariants: exposed names and flat ids are unique and do not depend on the order of servers. No
 * name can be read as another configured server's. A URI that a server lists twice becomes one
 * entry. A template that does not parse is listed but never matched.
 *
 * A flat id or prefixed URI depends only on the config and its own server. A raw URI also depends
 * on the other servers that list it. Results that depend on one server alone are cached by its
 * arrays.
 */

import { each, mapped, type Sliced } from "../../../lib/timing/slices.ts";
import { MAX_URI_LENGTH } from "../../../lib/uri-template/match-budget.ts";
import { parseTemplate, type UriTemplate } from "../../../lib/uri-template/template.ts";
import {
  duplicates,
  flatId,
  isAppUri,
  prefixed,
  prefixedTemplate,
  uniqueFlatIds,
} from "../../../mcp/identifiers/uris.ts";
import type { ServerNames } from "../server-names.ts";

export type UriMode = "prefixed" | "flat" | "raw";

export interface ResourceServer {
  readonly id: string;
  readonly resources: readonly { readonly uri: string }[];
  readonly templates: readonly { readonly uriTemplate: string }[];
}

export interface ResourceEntry {
  readonly serverId: string;
  /** The server's own URI. */
  readonly uri: string;
  /** The URI that clients see. */
  readonly exposed: string;
  readonly flatId: string;
  /** The index in the server's list. */
  readonly position: number;
}

export interface TemplateEntry {
  readonly serverId: string;
  readonly uriTemplate: string;
  readonly exposed: string;
  readonly flatId: string;
  readonly position: number;
}

export interface TemplateProblem {
  readonly serverId: string;
  readonly uriTemplate: string;
  readonly message: string;
}

/** `position`: the index in the server's list; undefined for a URI that is in no list. */
export interface Shows {
  resource(serverId: string, uri: string, position: number | undefined): boolean;
  template(serverId: string, uriTemplate: string, position: number): boolean;
}

/**
 * Entries in the order of servers and their lists, and the flat ids on which several of them
 * collide.
 */
export interface Listing<Entry> {
  readonly entries: readonly Entry[];
  readonly shared: ReadonlyMap<string, readonly Entry[]>;
}

interface Offer {
  readonly serverId: string;
  readonly uri: string;
  readonly position: number;
  readonly bareFlatId: string;
}

export interface TemplateListing extends Listing<TemplateEntry> {
  readonly parsed: ReadonlyMap<TemplateEntry, UriTemplate>;
  readonly problems: readonly TemplateProblem[];
}

interface ParsedTemplates {
  readonly parsed: ReadonlyMap<string, UriTemplate>;
  readonly problems: readonly TemplateProblem[];
}

/** The cost of parsing a template of any accepted length. */
const PARSE_COST = 20;

/** The most templates of one server that are matched. Further ones are only listed. */
const MAX_MATCHED = 1000;

const offersOf = cachedByArray(function* (serverId, uris: readonly string[]): Sliced<Offer[]> {
  const seen = new Set<string>();
  const offers: Offer[] = [];
  yield* each(uris, (uri, position) => {
    if (seen.has(uri)) return;
    seen.add(uri);
    offers.push({ serverId, uri, position, bareFlatId: flatId(serverId, uri) });
  });
  return offers;
});

const templatesOf = cachedByArray(function* (serverId, texts: readonly string[]) {
  const parsed = new Map<string, UriTemplate>();
  const problems: TemplateProblem[] = [];
  for (const uriTemplate of new Set(texts)) {
    if (parsed.size === MAX_MATCHED) {
      problems.push({ serverId, uriTemplate, message: `the server has more than ${MAX_MATCHED} templates` });
      break;
    }
    yield PARSE_COST;
    const result: ReturnType<typeof parseTemplate> =
      uriTemplate.length > MAX_URI_LENGTH
        ? { ok: false, position: MAX_URI_LENGTH, message: `it is longer than ${MAX_URI_LENGTH} characters` }
        : parseTemplate(uriTemplate);
    if (result.ok) parsed.set(uriTemplate, result.template);
    else problems.push({ serverId, uriTemplate, message: result.message });
  }
  return { parsed, problems };
});

/** Caches a result for the lifetime of its source array. */
function cachedByArray<Result>(compute: (serverId: string, texts: readonly string[]) => Sliced<Result>) {
  const results = new WeakMap<object, { serverId: string; result: Result }>();
  return function* (serverId: string, source: object, texts: () => readonly string[]): Sliced<Result> {
    const known = results.get(source);
    if (known?.serverId === serverId) return known.result;
    const result = yield* compute(serverId, texts());
    results.set(source, { serverId, result });
    return result;
  };
}

export function* listResources(
  servers: readonly ResourceServer[],
  { mode, names }: { readonly mode: UriMode; readonly names: ServerNames },
  shows?: Pick<Shows, "resource">,
): Sliced<Listing<ResourceEntry>> {
  const offers: Offer[] = [];
  for (const { id, resources } of servers) {
    const own = yield* offersOf(id, resources, () => resources.map(({ uri }) => uri));
    for (const offer of own) offers.push(offer);
  }
  const flatIds = yield* uniqueFlatIds(
    offers,
    offers.map((offer) => offer.bareFlatId),
    names.flat,
  );
  const prefixOf = (serverId: string) => names.prefixes.get(serverId) ?? serverId;
  const prefixedUris = yield* mapped(offers, ({ serverId, uri }) => prefixed(prefixOf(serverId), uri));
  const preferred = yield* mapped(offers, ({ uri }, i) => {
    const isRaw = (mode === "raw" || isAppUri(uri)) && !names.read(uri);
    if (isRaw) return uri;
    return (mode === "flat" ? flatIds[i] : prefixedUris[i]) ?? uri;
  });
  const exposed = yield* uniqueForms(preferred, prefixedUris);
  const listing = yield* withShared(offers, names, (offer, i) => ({
    serverId: offer.serverId,
    uri: offer.uri,
    exposed: exposed[i] ?? offer.uri,
    flatId: flatIds[i] ?? offer.bareFlatId,
    position: offer.position,
  }));
  return shows
    ? yield* visible(listing, ({ serverId, uri, position }) => shows.resource(serverId, uri, position))
    : listing;
}

export function* listTemplates(
  servers: readonly ResourceServer[],
  { mode, names }: { readonly mode: UriMode; readonly names: ServerNames },
  shows?: Pick<Shows, "template">,
): Sliced<TemplateListing> {
  const textsOf = ({ templates }: ResourceServer) => templates.map(({ uriTemplate }) => uriTemplate);
  const offers: Offer[] = [];
  for (const server of servers) {
    for (const offer of yield* offersOf(server.id, server.templates, () => textsOf(server))) offers.push(offer);
  }
  const flatIds = yield* uniqueFlatIds(
    offers,
    offers.map((offer) => offer.bareFlatId),
    names.flat,
  );
  const prefixedTexts = yield* mapped(offers, ({ serverId, uri }) =>
    prefixedTemplate(names.prefixes.get(serverId) ?? serverId, uri),
  );
  const preferred = yield* mapped(offers, ({ serverId, uri }, i) => {
    const isRaw = (mode === "raw" || isAppUri(uri)) && !names.read(uri);
    if (isRaw) return uri;
    const flat = `${serverId}_${uri}`;
    return mode === "flat" && !names.flat.needsSuffix(serverId, flat) ? flat : (prefixedTexts[i] ?? uri);
  });
  const exposed = yield* uniqueForms(preferred, prefixedTexts);
  const all = yield* withShared(offers, names, (offer, i) => ({
    serverId: offer.serverId,
    uriTemplate: offer.uri,
    exposed: exposed[i] ?? offer.uri,
    flatId: flatIds[i] ?? offer.bareFlatId,
    position: offer.position,
  }));
  const listing = shows
    ? yield* visible(all, ({ serverId, uriTemplate, position }) => shows.template(serverId, uriTemplate, position))
    : all;
  const made = new Map<string, ParsedTemplates>();
  for (const server of servers) {
    made.set(server.id, yield* templatesOf(server.id, server.templates, () => textsOf(server)));
  }
  const parsed = new Map<TemplateEntry, UriTemplate>();
  yield* each(listing.entries, (entry) => {
    const template = made.get(entry.serverId)?.parsed.get(entry.uriTemplate);
    if (template !== undefined) parsed.set(entry, template);
  });
  return { ...listing, parsed, problems: [...made.values()].flatMap(({ problems }) => problems) };
}

/**
 * Returns each entry's preferred form. If that form collides, returns the prefixed one, which is
 * always unique.
 */
function* uniqueForms(preferred: readonly string[], prefixedForms: readonly string[]): Sliced<readonly string[]> {
  const differing = preferred.filter((form, i) => form !== prefixedForms[i]);
  if (differing.length === 0) return preferred;
  const met = yield* duplicates(differing);
  // Only a form with a plus sign can equal another entry's prefixed form. Most lists have no plus
  // sign.
  const taken = new Set(differing.some((form) => form.includes("+")) ? prefixedForms : []);
  return yield* mapped(preferred, (form, i) => (met.has(form) || taken.has(form) ? (prefixedForms[i] ?? form) : form));
}

function* withShared<Entry extends { flatId: string }>(
  offers: readonly Offer[],
  { flat }: ServerNames,
  entryOf: (offer: Offer, index: number) => Entry,
): Sliced<Listing<Entry>> {
  const shared = new Map<string, Entry[]>();
  const entries = yield* mapped(offers, (offer, index) => {
    const entry = entryOf(offer, index);
    // A bare id that another server could own never belongs to this server.
    if (entry.flatId !== offer.bareFlatId && !flat.needsSuffix(offer.serverId, offer.bareFlatId)) {
      const group = shared.get(offer.bareFlatId) ?? [];
      group.push(entry);
      shared.set(offer.bareFlatId, group);
    }
    return entry;
  });
  return { entries, shared };
}

function* visible<Entry>(
  { entries, shared }: Listing<Entry>,
  shows: (entry: Entry) => boolean,
): Sliced<Listing<Entry>> {
  const shown = new Set<Entry>();
  yield* each(entries, (entry) => {
    if (shows(entry)) shown.add(entry);
  });
  const groups = [...shared].map(([id, group]) => [id, group.filter((entry) => shown.has(entry))] as const);
  return { entries: [...shown], shared: new Map(groups.filter(([, group]) => group.length > 0)) };
}

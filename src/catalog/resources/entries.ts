/**
 * The lists of resources and templates as clients see them: what each backend offers, under unique
 * names.
 *
 * What must always hold: exposed names and flat ids are unique and do not depend on the order of
 * servers; no name can be read as another configured server's; a URI that a backend lists twice is
 * one entry; a template that does not parse is listed but never matched. A flat id and a prefixed
 * URI depend on the config and on their own server only; a raw URI also on who else owns it. What
 * depends on one server alone is computed once for its arrays and kept as long as they live.
 */

import { duplicates, flatId, isAppUri, prefixed, prefixedTemplate, uniqueFlatIds } from "../../identifiers/uris.ts";
import { MAX_URI_LENGTH } from "../../uri-template/match-budget.ts";
import { parseTemplate, type UriTemplate } from "../../uri-template/template.ts";
import type { ServerNames } from "../server-names.ts";

export type UriMode = "prefixed" | "flat" | "raw";

export interface ResourceServer {
  readonly id: string;
  readonly resources: readonly { readonly uri: string }[];
  readonly templates: readonly { readonly uriTemplate: string }[];
}

export interface ResourceEntry {
  readonly serverId: string;
  /** The backend's own URI. */
  readonly uri: string;
  /** The URI that clients see. */
  readonly exposed: string;
  readonly flatId: string;
  /** The index in the server's own list. */
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

/**
 * Entries in the order of servers and their lists, and the flat ids that several of them would have
 * had.
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

/** So many templates of one server are matched; the others are only listed. */
const MAX_MATCHED = 1000;

const offersOf = cachedByArray((serverId, uris: readonly string[]): Offer[] => {
  const seen = new Set<string>();
  const offers: Offer[] = [];
  for (const [position, uri] of uris.entries()) {
    if (seen.has(uri)) continue;
    seen.add(uri);
    offers.push({ serverId, uri, position, bareFlatId: flatId(serverId, uri) });
  }
  return offers;
});

const templatesOf = cachedByArray((serverId, texts: readonly string[]) => {
  const parsed = new Map<string, UriTemplate>();
  const problems: TemplateProblem[] = [];
  for (const uriTemplate of new Set(texts)) {
    if (parsed.size === MAX_MATCHED) {
      problems.push({ serverId, uriTemplate, message: `it comes after ${MAX_MATCHED} others of its server` });
      break;
    }
    const result: ReturnType<typeof parseTemplate> =
      uriTemplate.length > MAX_URI_LENGTH
        ? { ok: false, position: MAX_URI_LENGTH, message: `it is longer than ${MAX_URI_LENGTH} characters` }
        : parseTemplate(uriTemplate);
    if (result.ok) parsed.set(uriTemplate, result.template);
    else problems.push({ serverId, uriTemplate, message: result.message });
  }
  return { parsed, problems };
});

/** Remembers a result for as long as the array lives that it came from. */
function cachedByArray<Result>(compute: (serverId: string, texts: readonly string[]) => Result) {
  const results = new WeakMap<object, { serverId: string; result: Result }>();
  return (serverId: string, source: object, texts: () => readonly string[]): Result => {
    const known = results.get(source);
    if (known?.serverId === serverId) return known.result;
    const result = compute(serverId, texts());
    results.set(source, { serverId, result });
    return result;
  };
}

export function listResources(
  servers: readonly ResourceServer[],
  { mode, names }: { readonly mode: UriMode; readonly names: ServerNames },
): Listing<ResourceEntry> {
  const offers = servers.flatMap(({ id, resources }) => offersOf(id, resources, () => resources.map(({ uri }) => uri)));
  const flatIds = uniqueFlatIds(
    offers,
    offers.map((offer) => offer.bareFlatId),
    names.flat,
  );
  const prefixedUris = offers.map(({ serverId, uri }) => prefixed(names.prefixes.get(serverId) ?? serverId, uri));
  const preferred = offers.map(({ uri }, i) => {
    const isRaw = (mode === "raw" || isAppUri(uri)) && !names.read(uri);
    if (isRaw) return uri;
    return (mode === "flat" ? flatIds[i] : prefixedUris[i]) ?? uri;
  });
  const exposed = uniqueForms(preferred, prefixedUris);
  return withShared(offers, names, (offer, i) => ({
    serverId: offer.serverId,
    uri: offer.uri,
    exposed: exposed[i] ?? offer.uri,
    flatId: flatIds[i] ?? offer.bareFlatId,
    position: offer.position,
  }));
}

export function listTemplates(
  servers: readonly ResourceServer[],
  { mode, names }: { readonly mode: UriMode; readonly names: ServerNames },
): Listing<TemplateEntry> & { parsed: ReadonlyMap<TemplateEntry, UriTemplate>; problems: TemplateProblem[] } {
  const textsOf = ({ templates }: ResourceServer) => templates.map(({ uriTemplate }) => uriTemplate);
  const offers = servers.flatMap((server) => offersOf(server.id, server.templates, () => textsOf(server)));
  const flatIds = uniqueFlatIds(
    offers,
    offers.map((offer) => offer.bareFlatId),
    names.flat,
  );
  const prefixedTexts = offers.map(({ serverId, uri }) =>
    prefixedTemplate(names.prefixes.get(serverId) ?? serverId, uri),
  );
  const preferred = offers.map(({ serverId, uri }, i) => {
    const isRaw = (mode === "raw" || isAppUri(uri)) && !names.read(uri);
    if (isRaw) return uri;
    const flat = `${serverId}_${uri}`;
    return mode === "flat" && !names.flat.needsSuffix(serverId, flat) ? flat : (prefixedTexts[i] ?? uri);
  });
  const exposed = uniqueForms(preferred, prefixedTexts);
  const listing = withShared(offers, names, (offer, i) => ({
    serverId: offer.serverId,
    uriTemplate: offer.uri,
    exposed: exposed[i] ?? offer.uri,
    flatId: flatIds[i] ?? offer.bareFlatId,
    position: offer.position,
  }));
  const made = new Map(
    servers.map((server) => [server.id, templatesOf(server.id, server.templates, () => textsOf(server))]),
  );
  const parsed = new Map<TemplateEntry, UriTemplate>();
  for (const entry of listing.entries) {
    const template = made.get(entry.serverId)?.parsed.get(entry.uriTemplate);
    if (template !== undefined) parsed.set(entry, template);
  }
  return { ...listing, parsed, problems: [...made.values()].flatMap(({ problems }) => problems) };
}

/**
 * Each entry's preferred form, or the prefixed one, which no other entry can have, where preferred
 * forms meet another's.
 */
function uniqueForms(preferred: readonly string[], prefixedForms: readonly string[]): readonly string[] {
  const differing = preferred.filter((form, i) => form !== prefixedForms[i]);
  if (differing.length === 0) return preferred;
  const met = duplicates(differing);
  // Only a form with a plus sign can be another entry's prefixed form; most lists have none.
  const taken = new Set(differing.some((form) => form.includes("+")) ? prefixedForms : []);
  return preferred.map((form, i) => (met.has(form) || taken.has(form) ? (prefixedForms[i] ?? form) : form));
}

function withShared<Entry extends { flatId: string }>(
  offers: readonly Offer[],
  { flat }: ServerNames,
  entryOf: (offer: Offer, index: number) => Entry,
): Listing<Entry> {
  const shared = new Map<string, Entry[]>();
  const entries = offers.map((offer, index) => {
    const entry = entryOf(offer, index);
    // A bare id that another server could have is not this one's at all.
    if (entry.flatId !== offer.bareFlatId && !flat.needsSuffix(offer.serverId, offer.bareFlatId)) {
      const group = shared.get(offer.bareFlatId) ?? [];
      group.push(entry);
      shared.set(offer.bareFlatId, group);
    }
    return entry;
  });
  return { entries, shared };
}

/**
 * The meta tools for the servers' resources and resource templates: list them, search them, look
 * one up by any form of its URI.
 */
import * as z from "zod";
import { setMember } from "../../lib/json/json-text.ts";
import { resolvedOrThrow } from "../../upstream/catalog/find-or-throw.ts";
import type { FoundResource } from "../../upstream/catalog/resources/resource-index.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import {
  brief,
  isOfMimeType,
  limitCount,
  mimeTypeFilter,
  queryText,
  resourceCard,
  resourceCardOf,
  serverIdFilter,
  templateCard,
  text,
} from "./cards.ts";
import { defineMetaTool, JsonText } from "./define.ts";
import { orNearest } from "./did-you-mean.ts";

export const catalogResources = defineMetaTool({
  name: "catalog_resources",
  title: "List all resources",
  description: "Lists every resource of all servers as a compact card: its URI, name, MIME type and size in bytes.",
  input: () => z.strictObject({ serverId: serverIdFilter(), mimeType: mimeTypeFilter() }),
  output: () => z.object({ resources: z.array(resourceCard()) }),
  run: ({ serverId, mimeType }, { catalog }, { client }) => {
    const current = catalog.view(client);
    const cards = current.resources.resources
      .filter((entry) => serverId === undefined || entry.serverId === serverId)
      .map((entry) => resourceCardOf(current, entry));
    return { resources: cards.filter((card) => isOfMimeType(card.mimeType, mimeType)) };
  },
});

export const describeResource = defineMetaTool({
  name: "describe_resource",
  title: "Describe a resource",
  description: "Returns everything that is known of one resource, or of the template that its URI belongs to.",
  input: () => z.strictObject({ uri: z.string().describe("Its URI, as in catalog_resources or search_resources.") }),
  output: () =>
    z.looseObject({
      uri: z.string(),
      name: z.string().optional(),
      id: z.string().describe("A short name that is accepted in place of the URI."),
      originalUri: z.string().describe("The server's own URI for it."),
      serverId: z.string(),
    }),
  run: async ({ uri }, { waiting }, call) => {
    const { found, snapshot } = await waiting.found((newest) => ({ found: find(newest, uri), snapshot: newest }), {
      client: call.client,
      call,
    });
    return new JsonText(found.via === "resource" ? resourceText(snapshot, found) : templateText(snapshot, found, uri));
  },
});

function find(snapshot: Snapshot, uri: string): FoundResource {
  const { resources } = snapshot;
  return orNearest(
    () => {
      const resolved = resources.resolve(uri);
      return resolvedOrThrow(resolved.kind === "unknown" ? resources.resolveTemplate(uri) : resolved, snapshot, uri);
    },
    uri,
    () => resources.resources.map(({ exposed }) => exposed),
  );
}

export const searchResources = defineMetaTool({
  name: "search_resources",
  title: "Search resources",
  description: "Finds resources by name, URI or description, among all servers, best first.",
  input: () =>
    z.strictObject({ query: queryText(), mimeType: mimeTypeFilter(), serverId: serverIdFilter(), limit: limitCount() }),
  output: () => z.object({ resources: z.array(resourceCard()), query: z.string(), count: z.int() }),
  run: async ({ query, mimeType, serverId, limit }, { search, catalog }, { client }) => {
    const found = await search.find(query, {
      kind: "resource",
      limit,
      viewer: client,
      filter: (doc) => (serverId === undefined || doc.serverId === serverId) && isOfMimeType(doc.mimeType, mimeType),
    });
    const current = catalog.view(client);
    const resources = found.flatMap((uri) => {
      const resolved = current.resources.resolve(uri);
      if (resolved.kind !== "found" || resolved.via !== "resource") return [];
      return [resourceCardOf(current, { ...resolved, exposed: uri })];
    });
    return { resources, query, count: resources.length };
  },
});

export const catalogResourceTemplates = defineMetaTool({
  name: "catalog_resource_templates",
  title: "List all resource templates",
  description: "Lists every resource template of all servers with its URI pattern; fill in the {placeholders} to read.",
  input: () => z.strictObject({ serverId: serverIdFilter() }),
  output: () => z.object({ templates: z.array(templateCard()) }),
  run: ({ serverId }, { catalog }, { client }) => {
    const current = catalog.view(client);
    const wanted = current.resources.templates.filter((entry) => serverId === undefined || entry.serverId === serverId);
    return {
      templates: wanted.map((entry) => {
        const definition = current.template(entry.serverId, entry.position);
        const description = definition && text(definition, "description");
        return {
          uriTemplate: entry.exposed,
          name: (definition && text(definition, "name")) ?? entry.uriTemplate,
          ...(description !== undefined && { description: brief(description) }),
          serverId: entry.serverId,
        };
      }),
    };
  },
});

function resourceText(snapshot: Snapshot, { serverId, uri, position }: FoundResource): string {
  const entry = snapshot.resources.resources.find((one) => one.serverId === serverId && one.position === position)!;
  const definition = snapshot.resource(serverId, position)!;
  return withMembers(definition.text, { uri: entry.exposed, id: entry.flatId, originalUri: uri, serverId });
}

/** Describes the template itself, or the one that a URI belongs to. */
function templateText(snapshot: Snapshot, { serverId, uri, position }: FoundResource, asked: string): string {
  const entry = snapshot.resources.templates.find((one) => one.serverId === serverId && one.position === position)!;
  const definition = snapshot.template(serverId, position)!;
  const exposed = uri === entry.uriTemplate ? entry.exposed : (snapshot.resources.expose(serverId, uri) ?? asked);
  const members = { uri: exposed, uriTemplate: entry.exposed, id: entry.flatId, originalUri: uri, serverId };
  return withMembers(definition.text, members);
}

function withMembers(objectText: string, members: Readonly<Record<string, string>>): string {
  let text = objectText;
  for (const [key, value] of Object.entries(members)) text = setMember(text, key, JSON.stringify(value));
  return text;
}

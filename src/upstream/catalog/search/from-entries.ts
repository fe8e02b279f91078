/**
 * Turns the catalog's entries into search documents, and the key of a hit back into a name.
 *
 * Each document is made once per definition, so a change of one server costs nothing for the
 * others. The key contains the server and the exposed name, so a hit needs no extra table.
 */
import type { Definition } from "../definitions.ts";
import type { NamedEntry } from "../named.ts";
import type { ResourceEntry } from "../resources/entries.ts";
import type { Snapshot } from "../snapshot.ts";
import { MAX_ARGS } from "./document.ts";
import type { SearchArg, SearchDoc, SearchKind } from "./search-index.ts";

/** No server id and no kind contains it. */
const SEPARATOR = "\n";

function keyOf(kind: SearchKind, serverId: string, name: string): string {
  return kind + SEPARATOR + serverId + SEPARATOR + name;
}

/** Returns the exposed name in a key. */
export function nameIn(key: string): string {
  return key.slice(key.indexOf(SEPARATOR, key.indexOf(SEPARATOR) + 1) + 1);
}

/**
 * Yields every document of the snapshot, each made on demand. `servers`: only those of these
 * servers.
 */
export function* docsOf(snapshot: Snapshot, servers?: ReadonlySet<string>): Generator<SearchDoc> {
  const isWanted = ({ serverId }: { readonly serverId: string }): boolean => !servers || servers.has(serverId);
  for (const entry of snapshot.tools.entries) if (isWanted(entry)) yield toolDoc(entry);
  for (const entry of snapshot.prompts.entries) if (isWanted(entry)) yield promptDoc(entry);
  for (const entry of snapshot.resources.resources) {
    if (!isWanted(entry)) continue;
    const definition = snapshot.resource(entry.serverId, entry.position);
    if (definition) yield resourceDoc(entry, definition);
  }
}

const known = new WeakMap<NamedEntry | Definition, SearchDoc>();

function toolDoc(entry: NamedEntry): SearchDoc {
  return remembered(entry, keyOf("tool", entry.serverId, entry.exposed), (key) => ({
    key,
    kind: "tool",
    name: entry.exposed,
    originalName: entry.name,
    serverId: entry.serverId,
    ...texts(entry.definition, entry.override?.description),
    args: schemaArgs(entry.definition.value["inputSchema"]),
  }));
}

function promptDoc(entry: NamedEntry): SearchDoc {
  return remembered(entry, keyOf("prompt", entry.serverId, entry.exposed), (key) => ({
    key,
    kind: "prompt",
    name: entry.exposed,
    originalName: entry.name,
    serverId: entry.serverId,
    ...texts(entry.definition),
    args: promptArgs(entry.definition.value["arguments"]),
  }));
}

function resourceDoc(entry: ResourceEntry, definition: Definition): SearchDoc {
  return remembered(definition, keyOf("resource", entry.serverId, entry.exposed), (key) => {
    const { name, mimeType } = definition.value;
    return {
      key,
      kind: "resource",
      name: entry.exposed,
      originalName: typeof name === "string" ? name : entry.uri,
      serverId: entry.serverId,
      ...texts(definition),
      ...(typeof mimeType === "string" && { mimeType }),
    };
  });
}

function remembered(owner: NamedEntry | Definition, key: string, make: (key: string) => SearchDoc): SearchDoc {
  const doc = known.get(owner);
  if (doc?.key === key) return doc;
  const made = make(key);
  known.set(owner, made);
  return made;
}

function texts({ value }: Definition, description = value["description"]): { title?: string; description?: string } {
  const annotations = value["annotations"] as { title?: unknown } | undefined | null;
  const title = value["title"] ?? annotations?.title;
  return {
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
  };
}

function schemaArgs(schema: unknown): SearchArg[] {
  const properties = (schema as { properties?: unknown } | undefined | null)?.properties;
  if (typeof properties !== "object" || properties === null) return [];
  return Object.entries(properties)
    .slice(0, MAX_ARGS)
    .map(([name, property]) => argument(name, property));
}

function promptArgs(declared: unknown): SearchArg[] {
  if (!Array.isArray(declared)) return [];
  return declared.slice(0, MAX_ARGS).flatMap((one: unknown) => {
    const name = (one as { name?: unknown } | null)?.name;
    return typeof name === "string" ? [argument(name, one)] : [];
  });
}

function argument(name: string, of: unknown): SearchArg {
  const description = (of as { description?: unknown } | null)?.description;
  return typeof description === "string" ? { name, description } : { name };
}

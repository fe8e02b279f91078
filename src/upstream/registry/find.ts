/** Searches the mirrored lists with the ranking that the meta tools have. */
import { createSearchIndex, type SearchDoc } from "../catalog/search/search-index.ts";
import type { Mirrored } from "./mirror.ts";
import type { RegistryServer } from "./server-json.ts";

export interface FoundInRegistry extends RegistryServer {
  readonly registry: string;
}

/** Returns the best matches first. The first registry that has a name wins. */
export async function findInRegistries(
  words: string,
  mirrors: readonly Mirrored[],
  limit: number,
): Promise<FoundInRegistry[]> {
  const byName = new Map<string, FoundInRegistry>();
  for (const { registry, servers } of mirrors) {
    for (const server of servers) if (!byName.has(server.name)) byName.set(server.name, { ...server, registry });
  }
  const index = createSearchIndex();
  try {
    index.replaceServer("registry", [...byName.values()].map(docOf));
    await index.settled();
    return index.search(words, { kind: "tool", limit }).map(({ key }) => byName.get(key)!);
  } finally {
    index.close();
  }
}

function docOf({ name, title, description, packages }: RegistryServer): SearchDoc {
  return {
    key: name,
    kind: "tool",
    name,
    originalName: name.split("/").at(-1)!,
    ...(title !== undefined && { title }),
    description: [description, ...packages.map(({ identifier }) => identifier)].join("\n"),
    serverId: name.split("/")[0]!,
  };
}

/** The resources and templates of one server, each once, as the index takes them. */
import { each, mapped, type Sliced } from "../../../lib/timing/slices.ts";
import { type Definition, type ServerLists, stringOf } from "../definitions.ts";

export interface ResourceView {
  readonly id: string;
  readonly lists: Pick<ServerLists, "resources" | "templates">;
  readonly resources: readonly { readonly uri: string; readonly definition: Definition }[];
  readonly templates: readonly { readonly uriTemplate: string; readonly definition: Definition }[];
}

/**
 * Returns the previous view if the server's resources did not change, so that the index can reuse
 * its work.
 */
export function* resourceViewOf(
  { id, lists }: { readonly id: string; readonly lists: ServerLists },
  before: readonly ResourceView[] | undefined,
): Sliced<ResourceView> {
  const known = before?.find((view) => view.id === id);
  if (known?.lists.resources === lists.resources && known.lists.templates === lists.templates) return known;
  const resources = yield* uniqueBy(lists.resources, "uri");
  const templates = yield* uniqueBy(lists.templates, "uriTemplate");
  return {
    id,
    lists,
    resources: yield* mapped(resources, ([uri, definition]) => ({ uri, definition })),
    templates: yield* mapped(templates, ([uriTemplate, definition]) => ({ uriTemplate, definition })),
  };
}

function* uniqueBy(definitions: readonly Definition[], key: string): Sliced<[string, Definition][]> {
  const seen = new Map<string, Definition>();
  yield* each(definitions, (definition) => {
    const value = stringOf(definition, key);
    if (value !== undefined && !seen.has(value)) seen.set(value, definition);
  });
  return [...seen];
}

/**
 * The entries of the pages of resources and templates: the servers' definitions with the clients'
 * URIs.
 *
 * A server that is shown alone keeps its definitions unchanged: its URIs are the clients' URIs.
 */
import { memberText, setMember } from "../../../lib/json/json-text.ts";
import { isRecord } from "../../../lib/structures/record.ts";
import { mapped, type Sliced, textCost } from "../../../lib/timing/slices.ts";
import type { Definition } from "../definitions.ts";
import type { PageEntry } from "../pages.ts";
import type { ResourceEntry, TemplateEntry } from "./entries.ts";

interface Source<Entry> {
  readonly entries: readonly Entry[];
  readonly definitionOf: (entry: Entry) => Definition;
  readonly isAlone: boolean;
}

export function resourcePages({ entries, definitionOf, isAlone }: Source<ResourceEntry>): Sliced<PageEntry[]> {
  const textOf = (entry: ResourceEntry): string =>
    isAlone && entry.exposed === entry.uri ? definitionOf(entry).text : uriText(definitionOf(entry), "uri", entry);
  return mapped(
    entries,
    (entry) => ({ exposed: entry.exposed, text: textOf(entry) }),
    (entry) => pageCost(definitionOf(entry)),
  );
}

export function templatePages({ entries, definitionOf, isAlone }: Source<TemplateEntry>): Sliced<PageEntry[]> {
  const textOf = (entry: TemplateEntry): string =>
    isAlone && entry.exposed === entry.uriTemplate
      ? definitionOf(entry).text
      : uriText(definitionOf(entry), "uriTemplate", entry);
  return mapped(
    entries,
    (entry) => ({ exposed: entry.exposed, text: textOf(entry) }),
    (entry) => pageCost(definitionOf(entry)),
  );
}

/** Two members are set, and a third is read. */
function pageCost({ text }: Definition): number {
  return 3 * textCost(text);
}

interface UriText {
  readonly exposed: string;
  readonly flatId: string;
  readonly text: string;
}

const uriTexts = new WeakMap<Definition, UriText>();

/** Returns the definition with the client's URI, and with the flat id in its `_meta`. */
function uriText(
  definition: Definition,
  key: string,
  entry: { readonly exposed: string; readonly flatId: string },
): string {
  const known = uriTexts.get(definition);
  if (known?.exposed === entry.exposed && known.flatId === entry.flatId) return known.text;
  const meta = definition.value["_meta"];
  const oldMeta = isRecord(meta) ? memberText(definition.text, "_meta")! : "{}";
  const newMeta = setMember(oldMeta, "goblin/id", JSON.stringify(entry.flatId));
  const text = setMember(setMember(definition.text, "_meta", newMeta), key, JSON.stringify(entry.exposed));
  uriTexts.set(definition, { exposed: entry.exposed, flatId: entry.flatId, text });
  return text;
}

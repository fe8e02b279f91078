/**
 * Marks pinned tools in the list, for clients that search their tools themselves: they load a
 * marked one at once.
 */
import { memberText, setMember } from "../../lib/json/json-text.ts";
import { isRecord } from "../../lib/structures/record.ts";
import type { Exposure } from "./exposure.ts";
import type { NamedEntry } from "./named.ts";

const ALWAYS_LOAD = "anthropic/alwaysLoad";

const marked = new WeakMap<NamedEntry, NamedEntry>();

/** A server's own mark stays as it is. */
export function withPins(entries: readonly NamedEntry[], { isPinned }: Exposure): readonly NamedEntry[] {
  return entries.map((entry) => {
    if (!isPinned(entry)) return entry;
    let pin = marked.get(entry);
    if (!pin) {
      pin = { ...entry, text: withMark(entry) };
      marked.set(entry, pin);
    }
    return pin;
  });
}

function withMark({ text, definition }: NamedEntry): string {
  const meta = definition.value["_meta"];
  if (isRecord(meta) && ALWAYS_LOAD in meta) return text;
  const before = isRecord(meta) ? (memberText(text, "_meta") ?? "{}") : "{}";
  return setMember(text, "_meta", setMember(before, ALWAYS_LOAD, "true"));
}

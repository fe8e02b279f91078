/**
 * YAML: the entry is inserted, replaced or cut out as whole lines, at the place that the parser
 * names. Servers in braces or brackets are not edited, unless there are none.
 */
import type { Document, Pair, YAMLMap, YAMLSeq } from "yaml";
import { ended, lineEndOf } from "../../../config/editing/lines.ts";
import type { Format, NamedSettings, ServersSection } from "./editor.ts";

type Yaml = typeof import("yaml");
type Ranged = { readonly range?: readonly [number, number, number] | null | undefined } | null;

export async function yamlFormat(): Promise<Format> {
  const yaml = await import("yaml");
  const parsed = (text: string): Document.Parsed => {
    const document = yaml.parseDocument(text);
    const [error] = document.errors;
    if (error) throw error;
    return document;
  };
  return {
    parse: (text) => parsed(text).toJS() ?? {},
    put(text, servers, { name, entry, source }) {
      const whole = ended(text);
      const eol = lineEndOf(whole);
      const place = placeOf(parsed(whole), whole, { yaml, servers });
      const block = (indent: number): string =>
        (source?.split("\n") ?? blockOf(yaml, servers, { name, entry }))
          .map((line) => (line === "" ? "" : " ".repeat(indent)) + line + eol)
          .join("");
      if (place === undefined) return `${whole}${sectionOf(servers, eol)}${block(2)}`;
      const { node, key } = place;
      if (node === undefined) {
        const end = lineEnd(whole, key.end);
        return whole.slice(0, end) + block(key.column + 2) + whole.slice(end);
      }
      if (node.flow) {
        if (node.items.length > 0) return text;
        const [start, end] = node.range!;
        const after = lineEnd(whole, end);
        const rest = whole.slice(end, after).trimEnd();
        return `${whole.slice(0, start).trimEnd()}${rest}${eol}${block(key.column + 2)}${whole.slice(after)}`;
      }
      const column = columnOf(whole, startOf(node.items[0] as Pair | Ranged, whole, servers));
      const own = spanOf(node, whole, { ...servers, name });
      const at = own?.start ?? lineEnd(whole, endOf(node.items.at(-1) as Pair | Ranged));
      return whole.slice(0, at) + block(column) + whole.slice(own?.end ?? at);
    },
    remove(text, servers, name) {
      const whole = ended(text);
      const place = placeOf(parsed(whole), whole, { yaml, servers });
      const own = place?.node && !place.node.flow ? spanOf(place.node, whole, { ...servers, name }) : undefined;
      if (!place?.node || !own) return text;
      const rest = whole.slice(0, own.start) + whole.slice(own.end);
      if (place.node.items.length > 1) return rest;
      const end = place.key.end;
      return `${whole.slice(0, end)}: ${servers.isList ? "[]" : "{}"}${rest.slice(end).replace(/^\s*:[ \t]*/, "")}`;
    },
    sourceOf(text, servers, name) {
      const whole = ended(text);
      const place = placeOf(parsed(whole), whole, { yaml, servers });
      const own = place?.node && !place.node.flow ? spanOf(place.node, whole, { ...servers, name }) : undefined;
      if (!own) return undefined;
      const lines = whole.slice(own.start, own.end).trimEnd().split(/\r?\n/);
      const indent = /^ */.exec(lines[0]!)![0];
      return lines.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)).join("\n");
    },
  };
}

interface Place {
  /** The section's key: its column, and where it ends. */
  readonly key: { readonly column: number; readonly end: number };
  /** Undefined if nothing stands there yet. */
  readonly node: YAMLMap | YAMLSeq | undefined;
}

/** Returns undefined if the section is missing. Sections of the clients are one key deep. */
function placeOf(
  document: Document.Parsed,
  text: string,
  { yaml, servers: { section } }: { readonly yaml: Yaml; readonly servers: ServersSection },
): Place | undefined {
  if (!yaml.isMap(document.contents)) return undefined;
  const pair = document.contents.items.find(({ key }) => yaml.isScalar(key) && key.value === section[0]);
  if (!pair) return undefined;
  const [start, end] = (pair.key as Ranged)!.range!;
  const { value } = pair;
  const node = yaml.isMap(value) || yaml.isSeq(value) ? (value as YAMLMap | YAMLSeq) : undefined;
  return { key: { column: columnOf(text, start), end }, node };
}

function sectionOf({ section }: ServersSection, eol: string): string {
  return `${section[0]}:${eol}`;
}

function blockOf(yaml: Yaml, { isList }: ServersSection, { name, entry }: NamedSettings): string[] {
  const value = isList ? [{ name, ...entry }] : { [name]: entry };
  return yaml.stringify(value, { lineWidth: 0 }).trimEnd().split("\n");
}

/** Returns the lines of the entry. */
function spanOf(
  node: YAMLMap | YAMLSeq,
  text: string,
  servers: ServersSection & { readonly name: string },
): { readonly start: number; readonly end: number } | undefined {
  const item = (node.items as unknown[]).find((one) => nameOf(one, servers) === servers.name) as
    | Pair
    | Ranged
    | undefined;
  if (!item) return undefined;
  const start = startOf(item, text, servers);
  return { start: text.lastIndexOf("\n", start - 1) + 1, end: lineEnd(text, endOf(item)) };
}

function nameOf(item: unknown, { isList }: ServersSection): unknown {
  if (isList) return (item as { get?: (key: string) => unknown }).get?.("name");
  return (item as Pair<{ value?: unknown }>).key?.value;
}

/** Where an item begins: at its key, or at the dash before it. */
function startOf(item: Pair | Ranged, text: string, { isList }: ServersSection): number {
  if (!isList) return ((item as Pair).key as Ranged)!.range![0];
  return text.lastIndexOf("-", (item as Ranged)!.range![0]);
}

function endOf(item: Pair | Ranged): number {
  if (item && "key" in item) return (((item as Pair).value ?? (item as Pair).key) as Ranged)!.range![1];
  return (item as Ranged)!.range![1];
}

/** The offset after the line that contains the character before `offset`. */
function lineEnd(text: string, offset: number): number {
  if (text[offset - 1] === "\n") return offset;
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf("\n", offset - 1) + 1);
}

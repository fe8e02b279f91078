/**
 * TOML, line by line: the entry is a table of its own. An entry that is written in another way, for
 * example inside of an inline table, is not edited.
 */

import { ended, lineEndOf, linesOf } from "../../../config/editing/lines.ts";
import type { SettingsEntry } from "../client.ts";
import type { Format, ServersSection } from "./editor.ts";

const KEY = String.raw`(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')`;
const HEADER = new RegExp(String.raw`^\s*\[\[?\s*(${KEY}(?:\s*\.\s*${KEY})*)\s*\]\]?\s*(?:#.*)?$`);
const BARE = /^[A-Za-z0-9_-]+$/;

export async function tomlFormat(): Promise<Format> {
  const { parse } = await import("smol-toml");
  return {
    parse: (text) => parse(text),
    put(text, servers, { name, entry, source }) {
      const eol = lineEndOf(text);
      const lines = linesOf(ended(text));
      const table = source?.split("\n") ?? tableOf([...servers.section, name], entry);
      const block = table.map((line) => line + eol);
      const own = spansOf(lines, servers, name);
      const [first] = own;
      if (first) {
        const rest = without(lines, own);
        return [...rest.slice(0, first.start), ...block, ...rest.slice(first.start)].join("");
      }
      const gap = lines.length > 0 && lines.at(-1)!.trim() !== "" ? [eol] : [];
      return [...lines, ...gap, ...block].join("");
    },
    remove(text, servers, name) {
      const lines = linesOf(text);
      const own = spansOf(lines, servers, name);
      const start = own[0]?.start ?? 0;
      const rest = without(lines, own);
      // The empty line before the table goes with it.
      if (start > 0 && rest[start - 1]?.trim() === "") rest.splice(start - 1, 1);
      return rest.join("");
    },
    sourceOf(text, servers, name) {
      const lines = linesOf(ended(text));
      const own = spansOf(lines, servers, name).flatMap(({ start, end }) => lines.slice(start, end));
      return own.length === 0 ? undefined : own.map((line) => line.trimEnd()).join("\n");
    },
  };
}

function tableOf(path: readonly string[], entry: SettingsEntry): string[] {
  const fields = Object.entries(entry).map(([field, value]) => `${key(field)} = ${literal(value)}`);
  return [`[${path.map(key).join(".")}]`, ...fields];
}

interface Span {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/** Returns the lines of the entry's table and of tables in it. */
function spansOf(lines: readonly string[], { section }: ServersSection, name: string): Span[] {
  const wanted = [...section, name];
  const heads = lines.flatMap((line, at) => {
    const path = HEADER.exec(line.trimEnd())?.[1];
    return path === undefined ? [] : [{ at, path: keysOf(path) }];
  });
  return heads.flatMap(({ at, path }, i) => {
    if (!wanted.every((step, n) => path[n] === step)) return [];
    let end = heads[i + 1]?.at ?? lines.length;
    // Comments before the next table belong to it.
    while (end > at + 1 && /^\s*(#.*)?$/.test(lines[end - 1]!.trimEnd())) end--;
    return [{ start: at, end }];
  });
}

function without(lines: readonly string[], spans: readonly Span[]): string[] {
  return lines.filter((_, at) => !spans.some(({ start, end }) => at >= start && at < end));
}

function keysOf(path: string): string[] {
  return [...path.matchAll(new RegExp(KEY, "g"))].map(([written]) => {
    if (written.startsWith('"')) return JSON.parse(written) as string;
    return written.startsWith("'") ? written.slice(1, -1) : written;
  });
}

function key(name: string): string {
  return BARE.test(name) ? name : JSON.stringify(name);
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([name, inner]) => `${key(name)} = ${literal(inner)}`);
    return `{ ${fields.join(", ")} }`;
  }
  return JSON.stringify(value);
}

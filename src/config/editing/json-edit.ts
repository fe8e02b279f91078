/**
 * Edits of one property of a JSON text with comments and trailing commas. A property is added after
 * the last one, on lines of its own unless the object stands on one line; its neighbours keep their
 * bytes, but for a comma.
 */
import { getNodeValue, type Node } from "jsonc-parser";
import { parseSyntax, propertiesOf } from "../reading/document.ts";
import { lineEndOf, lineOf } from "./lines.ts";

/** Returns the object of a text. @throws Error that names the line of a mistake */
export function objectIn(text: string): Node {
  const { root, error } = parseSyntax(text);
  if (error) throw new Error(`line ${lineOf(text, error.offset)}: ${error.message}`);
  if (root?.type !== "object") throw new Error("it is not an object in braces");
  return root;
}

/** Returns the text with the value at the path; unchanged if the path leads through no object. */
export function putIn(text: string, path: readonly string[], value: unknown): string {
  const whole = text.trim() === "" ? "{}\n" : text;
  const section = path.slice(0, -1);
  const name = path.at(-1)!;
  let object = objectIn(whole);
  for (const [i, key] of section.entries()) {
    const next = propertiesOf(object).find(([known]) => known === key)?.[2];
    if (next?.type !== "object") {
      const rest = [...section.slice(i + 1), name].reduceRight<unknown>((inner, step) => ({ [step]: inner }), value);
      return next ? text : insert(whole, object, { key, value: rest });
    }
    object = next;
  }
  const known = propertiesOf(object).find(([key]) => key === name)?.[2];
  if (!known) return insert(whole, object, { key: name, value });
  const { offset, length } = known;
  if (JSON.stringify(getNodeValue(known)) === JSON.stringify(value)) return text;
  const written = valueText(whole, value, indentAt(whole, offset));
  return whole.slice(0, offset) + written + whole.slice(offset + length);
}

/** Returns the text without what is at the path. */
export function removeFrom(text: string, path: readonly string[]): string {
  let object: Node | undefined = objectIn(text);
  for (const key of path.slice(0, -1)) object = propertiesOf(object).find(([known]) => known === key)?.[2];
  return object ? cut(text, object, path.at(-1)!) : text;
}

/** Returns how the value at the path is written, without the indentation of its first line. */
export function sourceIn(text: string, path: readonly string[]): string | undefined {
  const node = nodeAt(text, path);
  if (!node) return undefined;
  const indent = indentAt(text, node.offset);
  const lines = text.slice(node.offset, node.offset + node.length).split(/\r?\n/);
  return lines.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)).join("\n");
}

/** Returns the text with the value at the path written as in `sourceIn`. */
export function withSource(text: string, path: readonly string[], source: string): string {
  const node = nodeAt(text, path);
  if (!node) return text;
  const { offset, length } = node;
  const written = source.replaceAll("\n", lineEndOf(text) + indentAt(text, offset));
  return text.slice(0, offset) + written + text.slice(offset + length);
}

function nodeAt(text: string, path: readonly string[]): Node | undefined {
  let node: Node | undefined = objectIn(text);
  for (const key of path) node = node && propertiesOf(node).find(([known]) => known === key)?.[2];
  return node;
}

interface Property {
  readonly key: string;
  readonly value: unknown;
}

function insert(text: string, object: Node, { key, value }: Property): string {
  const eol = lineEndOf(text);
  const last = object.children?.at(-1);
  const close = object.offset + object.length - 1;
  const isOneLine = !text.slice(object.offset, close).includes("\n");
  if (last && isOneLine) {
    const end = last.offset + last.length;
    return `${text.slice(0, end)}, ${JSON.stringify(key)}: ${JSON.stringify(value)}${text.slice(end)}`;
  }
  const outer = indentAt(text, object.offset);
  const startsLine = last && /^[ \t]*$/.test(lineBefore(text, last.offset));
  const indent = startsLine ? lineBefore(text, last.offset) : outer + unitOf(text);
  const line = `${eol}${indent}${JSON.stringify(key)}: ${valueText(text, value, indent)}`;
  if (!last) {
    const from = afterComment(text, object.offset + 1);
    return `${text.slice(0, from)}${line}${isOneLine ? eol + outer : ""}${text.slice(from)}`;
  }
  const end = last.offset + last.length;
  const comma = commaAfter(text, end, close);
  const at = afterComment(text, comma === undefined ? end : comma + 1);
  const [before, after] = [text.slice(end, at), text.slice(at)];
  if (comma !== undefined) return `${text.slice(0, end)}${before}${line},${after}`;
  return `${text.slice(0, end)},${before}${line}${after}`;
}

function cut(text: string, object: Node, name: string): string {
  const properties = object.children ?? [];
  const at = properties.findIndex((property) => property.children?.[0]?.value === name);
  const own = properties[at];
  if (!own) return text;
  const close = object.offset + object.length - 1;
  const end = own.offset + own.length;
  const comma = commaAfter(text, end, close);
  const to = comma === undefined ? end : comma + 1;
  const lead = lineBefore(text, own.offset);
  const isLine = /^[ \t]*$/.test(lead);
  const from = isLine ? text.slice(0, own.offset).replace(/\r?\n[ \t]*$/, "").length : own.offset;
  const previous = properties[at - 1];
  let head = text.slice(0, from);
  if (previous && comma === undefined) {
    const stop = previous.offset + previous.length;
    const extra = commaAfter(text, stop, own.offset);
    if (extra !== undefined) head = head.slice(0, extra) + head.slice(extra + 1);
  }
  const tail = text.slice(to);
  return isLine ? head + tail : head.trimEnd() + (properties.length > 1 ? tail : tail.trimStart());
}

/** Returns where a comma stands after `from`, past space and comments. */
function commaAfter(text: string, from: number, until: number): number | undefined {
  const between = /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/.exec(text.slice(from, until))![0];
  const at = from + between.length;
  return at < until && text[at] === "," ? at : undefined;
}

/** Returns the end of the line, if only a comment follows on it; else the same place. */
function afterComment(text: string, from: number): number {
  const rest = /^[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/[ \t]*)?(?=\r?\n)/.exec(text.slice(from));
  return from + (rest?.[0].length ?? 0);
}

function valueText(text: string, value: unknown, indent: string): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll("\n", lineEndOf(text) + indent);
}

function unitOf(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
}

/** Returns the indentation of the line at an offset. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))![0];
}

function lineBefore(text: string, offset: number): string {
  return text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
}

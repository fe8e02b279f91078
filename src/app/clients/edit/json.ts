/** JSON with comments and trailing commas. */
import { getNodeValue, type Node } from "jsonc-parser";
import { objectIn, putIn, removeFrom, sourceIn, withSource } from "../../../config/editing/json-edit.ts";
import { lineOf } from "../../../config/editing/lines.ts";
import { propertiesOf } from "../../../config/reading/document.ts";
import type { Format } from "./editor.ts";

export const jsonFormat: Format = {
  parse(text) {
    if (text.trim() === "") return {};
    const root = objectIn(text);
    visit(root, text);
    return getNodeValue(root);
  },
  put(text, { section }, { name, entry, source }) {
    const path = [...section, name];
    const next = putIn(text, path, entry);
    return source === undefined ? next : withSource(next, path, source);
  },
  remove: (text, { section }, name) => removeFrom(text, [...section, name]),
  sourceOf: (text, { section }, name) => sourceIn(text, [...section, name]),
};

function visit(node: Node, text: string): void {
  const seen = new Set<string>();
  for (const [key, at, value] of propertiesOf(node)) {
    if (seen.has(key)) throw new Error(`line ${lineOf(text, at.offset)}: "${key}" is there twice`);
    seen.add(key);
    visit(value, text);
  }
}

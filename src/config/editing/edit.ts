/**
 * Edits a config file in place: one value at one path.
 *
 * Invariant: everything else stays as it is, byte by byte: comments, order, line ends, the file's
 * mode. The file is replaced at once, never half-written, and a link keeps pointing to it.
 */
import { readFileSync, realpathSync } from "node:fs";
import { findNodeAtLocation, getNodeValue, parseTree } from "jsonc-parser";
import { writeFileAtomicSync } from "../../lib/structures/write-file-atomic.ts";
import type { KeyPath } from "../problems/locate.ts";
import { putIn, removeFrom } from "./json-edit.ts";

/** Returns the value at a path of a config's text; undefined if there is none. */
export function valueIn(text: string, path: KeyPath): unknown {
  const root = parseTree(withoutMark(text), [], { allowTrailingComma: true });
  const node = root && findNodeAtLocation(root, [...path]);
  return node && getNodeValue(node);
}

/** Sets the value at a path; undefined removes it. Returns the new text. */
export function withValue(text: string, path: readonly string[], value: unknown): string {
  const mark = text.startsWith(MARK) ? MARK : "";
  const body = withoutMark(text);
  return mark + (value === undefined ? removeFrom(body, path) : putIn(body, path, value));
}

export function editConfig(path: string, edit: (text: string) => string): void {
  const file = realpathSync(path);
  writeFileAtomicSync(file, edit(readFileSync(file, "utf8")), { keepsMode: true });
}

/** Some editors on Windows write a byte order mark. */
const MARK = "\ufeff";

function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(1) : text;
}

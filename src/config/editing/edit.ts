/**
 * Edits a config file in place: one value at one path.
 *
 * Invariant: everything else stays as it is, byte by byte: comments, order, line ends, the file's
 * mode. The file is replaced at once, never half-written, and a link keeps pointing to it.
 */
import { randomUUID } from "node:crypto";
import { chmodSync, readFileSync, realpathSync, renameSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { findNodeAtLocation, getNodeValue, parseTree } from "jsonc-parser";
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
  const { mode } = statSync(file);
  const next = edit(readFileSync(file, "utf8"));
  const draft = `${file}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    writeFileSync(draft, next, { mode, flag: "wx" });
    // The process's umask may have taken bits away.
    chmodSync(draft, mode & 0o7777);
    renameSync(draft, file);
  } catch (error) {
    try {
      unlinkSync(draft);
    } catch {
      // It was never made, or has its final name already.
    }
    throw error;
  }
}

/** Some editors on Windows write a byte order mark. */
const MARK = "\ufeff";

function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(1) : text;
}

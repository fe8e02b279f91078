/**
 * Maps a key's path to its position in the text.
 *
 * Every path has a position: a path that is not in the file maps to its nearest ancestor.
 */
import { findNodeAtLocation, type Node } from "jsonc-parser";

export type KeyPath = readonly (string | number)[];

export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/**
 * Formats a path as `mcpServers.docs.args[0]`; unusual keys are quoted: `mcpServers["my
 * docs"].url`.
 */
export function formatKey(path: KeyPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!/^[\w$-]+$/.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** The steps that were written in place of a translated property's key. */
const writtenSteps = new WeakMap<Node, KeyPath>();

/** Records that a property stands in the text under other steps than its key. */
export function noteWritten(property: Node, steps: KeyPath): void {
  writtenSteps.set(property, steps);
}

/** Returns the path as it is written in the text. */
export function writtenPath(root: Node | undefined, path: KeyPath): KeyPath {
  const written: (string | number)[] = [];
  let current = root;
  for (const step of path) {
    const property =
      typeof step === "string"
        ? current?.children?.find((child) => child.type === "property" && child.children?.[0]?.value === step)
        : undefined;
    written.push(...((property && writtenSteps.get(property)) ?? [step]));
    current = property
      ? property.children?.[1]
      : current?.type === "array"
        ? current.children?.[Number(step)]
        : undefined;
  }
  return written;
}

/** Returns the offset of the value, or of the key with `at: "key"`. */
export function offsetOf(root: Node | undefined, path: KeyPath, at: "key" | "value"): number {
  if (root === undefined) return 0;
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(root, [...path.slice(0, length)]);
    if (node === undefined) continue;
    const isMissing = length < path.length;
    const keyNode = node.parent?.type === "property" ? node.parent.children?.[0] : undefined;
    return (at === "key" || isMissing ? keyNode : undefined)?.offset ?? node.offset;
  }
  return root.offset;
}

export function placeOf(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: offset - (before.lastIndexOf("\n") + 1) + 1 };
}

/** Finds the lines of keys and rules in a config's text, so that people can be led to them. */
import { findNodeAtLocation } from "jsonc-parser";
import { type KeyPath, offsetOf, placeOf } from "../problems/locate.ts";
import { parseSyntax } from "./document.ts";

/** Returns the line of a key by its path; undefined if the text does not have it. */
export function lineIn(source: string): (path: KeyPath) => number | undefined {
  const text = source.startsWith("\uFEFF") ? source.slice(1) : source;
  const { root } = parseSyntax(text);
  return (path) => {
    const node = root && findNodeAtLocation(root, [...path]);
    return node && placeOf(text, node.offset).line;
  };
}

/** Returns the line of a rule by its index; 0 if it is not in the text. */
export function ruleLines(source: string): (index: number) => number {
  const text = source.startsWith("\uFEFF") ? source.slice(1) : source;
  const { root } = parseSyntax(text);
  return (index) => (root ? placeOf(text, offsetOf(root, ["policy", "rules", index], "value")).line : 0);
}

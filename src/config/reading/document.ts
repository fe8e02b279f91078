/**
 * Parses a config's text into a tree with positions: JSON with comments and trailing commas.
 *
 * Invariant: nothing in the text is lost silently. Syntax errors, duplicate keys and keys that
 * JavaScript objects cannot hold are reported, never dropped.
 */
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { KeyPath } from "../problems/locate.ts";
import type { Report } from "../problems/report.ts";

const SYNTAX_MESSAGES: Readonly<Record<string, string>> = {
  InvalidSymbol: "unexpected text",
  InvalidNumberFormat: "not a valid number",
  PropertyNameExpected: "expected a key in double quotes",
  ValueExpected: "expected a value",
  ColonExpected: 'expected ":"',
  CommaExpected: 'expected ","',
  CloseBraceExpected: 'expected "}"',
  CloseBracketExpected: 'expected "]"',
  EndOfFileExpected: "unexpected text after the end of the config",
  InvalidCommentToken: "not a valid comment",
  UnexpectedEndOfComment: "a comment that does not end",
  UnexpectedEndOfString: "a string that does not end",
  UnexpectedEndOfNumber: "a number that does not end",
  InvalidUnicode: "not a valid \\u escape",
  InvalidEscapeCharacter: "not a valid escape in a string",
  InvalidCharacter: "a character that is not allowed in a string",
};

export interface SyntaxTree {
  readonly root: Node | undefined;
  /** The first syntax error; later ones are mostly its consequences. */
  readonly error?: { readonly offset: number; readonly message: string };
}

export function parseSyntax(text: string): SyntaxTree {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    // The parser recurses, so a file of only brackets exhausts the stack.
    if (!(error instanceof RangeError)) throw error;
    return { root: undefined, error: { offset: 0, message: "the values are nested too deeply" } };
  }
  const [first] = errors;
  if (root === undefined && /^\s*$/.test(text)) return { root, error: { offset: 0, message: "the file is empty" } };
  if (first === undefined) return { root };
  const name = printParseErrorCode(first.error);
  const message = text[first.offset] === "'" ? "expected double quotes" : (SYNTAX_MESSAGES[name] ?? name);
  return { root, error: { offset: first.offset, message } };
}

export interface Visitor {
  /** Returns whether to skip a key and everything below it. */
  skip(path: KeyPath): boolean;
  /** Returns the value of a string, with its variables substituted. */
  text(text: string, path: KeyPath): unknown;
}

/** Returns the plain value of a node; reports duplicate and forbidden keys. */
export function readValue(node: Node, report: Report, visitor: Visitor): unknown {
  return read(node, []);

  function read(current: Node, path: KeyPath): unknown {
    switch (current.type) {
      case "object":
        return readObject(current, path);
      case "array":
        return (current.children ?? []).map((child, index) => read(child, [...path, index]));
      case "string":
        return visitor.text(String(current.value), path);
      default:
        return current.value;
    }
  }

  function readObject(object: Node, path: KeyPath): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    for (const [key, keyNode, value] of propertiesOf(object)) {
      const keyPath = [...path, key];
      if (key === "__proto__") {
        report.error(keyPath, "this key is not allowed", { offset: keyNode.offset });
      } else if (Object.hasOwn(result, key)) {
        report.error(keyPath, "duplicate key", { offset: keyNode.offset });
      } else if (!visitor.skip(keyPath)) {
        result[key] = read(value, keyPath);
      }
    }
    return result;
  }
}

/** Returns the properties of an object in file order. */
export function propertiesOf(object: Node | undefined): [key: string, keyNode: Node, value: Node][] {
  if (object?.type !== "object") return [];
  const properties: [string, Node, Node][] = [];
  for (const property of object.children ?? []) {
    const [key, value] = property.children ?? [];
    if (key !== undefined && value !== undefined) properties.push([String(key.value), key, value]);
  }
  return properties;
}

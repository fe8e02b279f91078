/**
 * Values that HTTP headers repeat from a request's body, so that proxies can route without reading
 * it. These are the method, the name, and the arguments that a tool's schema marks with
 * `x-mcp-header`. Both sides of the gateway find, encode and compare them here.
 */

import { toDisplayText } from "../../lib/json/json-text.ts";
import { HEADER_NAME } from "../../lib/text/header-rules.ts";

export interface Mirror {
  /** The header name without its prefix. */
  readonly header: string;
  /** The path of the argument. */
  readonly path: readonly string[];
}

export const MIRROR_PREFIX = "mcp-param-";

/** The member of the params that the `Mcp-Name` header repeats, by method. */
export const nameFields: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

const TYPES = new Set(["string", "integer", "boolean"]);
const NONE: readonly Mirror[] = [];
/** Null: a declaration is invalid. */
const known = new WeakMap<object, readonly Mirror[] | null>();

/**
 * Returns the mirrored arguments that a tool's input schema declares; empty if a declaration is
 * invalid.
 */
export function mirrorsOf(inputSchema: unknown): readonly Mirror[] {
  return declaredIn(inputSchema) ?? NONE;
}

/** Whether a tool can be called where arguments are mirrored: all its declarations are valid. */
export function hasValidMirrors(inputSchema: unknown): boolean {
  return declaredIn(inputSchema) !== null;
}

function declaredIn(inputSchema: unknown): readonly Mirror[] | null {
  if (typeof inputSchema !== "object" || inputSchema === null) return NONE;
  let found = known.get(inputSchema);
  if (found === undefined) {
    found = readMirrors(inputSchema);
    known.set(inputSchema, found);
  }
  return found;
}

function readMirrors(inputSchema: object): readonly Mirror[] | null {
  const found: Mirror[] = [];
  const seen = new Set<string>();
  let valid = true;
  const visit = (node: unknown, path: readonly string[]): void => {
    if (typeof node !== "object" || node === null) return;
    const { type, properties, "x-mcp-header": header } = node as Record<string, unknown>;
    if (header !== undefined && path.length > 0) {
      const lower = toDisplayText(header).toLowerCase();
      if (typeof header !== "string" || !HEADER_NAME.test(header) || !TYPES.has(toDisplayText(type)) || seen.has(lower))
        valid = false;
      seen.add(lower);
      found.push({ header: lower, path });
    }
    if (typeof properties === "object" && properties !== null) {
      for (const [key, child] of Object.entries(properties)) visit(child, [...path, key]);
    }
  };
  visit(inputSchema, []);
  return valid ? found : null;
}

/** Returns the argument's value for a header, before encoding; undefined: no header. */
export function mirroredValue(args: unknown, path: readonly string[]): string | undefined {
  let node: unknown = args;
  for (const key of path) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Record<string, unknown>)[key];
  }
  if (typeof node === "string") return node;
  if (typeof node === "boolean") return String(node);
  if (typeof node === "number" && (!Number.isInteger(node) || Number.isSafeInteger(node))) return String(node);
  return undefined;
}

const OPEN = "=?base64?";
const CLOSE = "?=";

/** Encodes a text as a header value. Uses base64 for text that a header cannot carry. */
export function encodeHeader(value: string): string {
  const isPlain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(value);
  const looksEncoded = value.startsWith(OPEN) && value.endsWith(CLOSE);
  return isPlain && !looksEncoded ? value : `${OPEN}${Buffer.from(value).toString("base64")}${CLOSE}`;
}

/** Decodes a header value. Returns undefined if its base64 is invalid. */
export function decodeHeader(header: string): string | undefined {
  const value = header.trim();
  if (!value.startsWith(OPEN) || !value.endsWith(CLOSE)) return value;
  const encoded = value.slice(OPEN.length, -CLOSE.length);
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded ? bytes.toString("utf8") : undefined;
}

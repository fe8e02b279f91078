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

/** Keywords whose members are schemas by name. */
const SCHEMA_MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose values are data. */
const DATA = new Set(["default", "const", "enum", "examples", "required"]);

function readMirrors(inputSchema: object): readonly Mirror[] | null {
  const found: Mirror[] = [];
  const seen = new Set<string>();
  let valid = true;
  /** `path` is undefined where no chain of `properties` leads: a declaration there is invalid. */
  const visit = (node: unknown, path: readonly string[] | undefined): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [keyword, value] of Object.entries(node)) {
      if (keyword === "x-mcp-header") declare(node as Record<string, unknown>, path);
      else if (SCHEMA_MAPS.has(keyword)) visitMap(value, keyword === "properties" ? path : undefined);
      else if (!DATA.has(keyword)) visit(value, undefined);
    }
  };
  const visitMap = (map: unknown, path: readonly string[] | undefined): void => {
    if (typeof map !== "object" || map === null) return;
    for (const [key, child] of Object.entries(map)) visit(child, path && [...path, key]);
  };
  const declare = ({ type, "x-mcp-header": header }: Record<string, unknown>, path?: readonly string[]): void => {
    const lower = toDisplayText(header).toLowerCase();
    const isName = typeof header === "string" && HEADER_NAME.test(header) && !seen.has(lower);
    seen.add(lower);
    if (!path || path.length === 0 || !isName || !TYPES.has(toDisplayText(type))) valid = false;
    else found.push({ header: lower, path });
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

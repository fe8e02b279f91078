/**
 * Values that HTTP headers repeat from a request's body, so that proxies can route without reading
 * it: the method, the name of the thing, and the arguments that a tool's schema marks with
 * `x-mcp-header`. One place for how they are found, encoded and compared, for both sides of the
 * gateway.
 */
import { HEADER_NAME } from "../text/header-rules.ts";
import { toDisplayText } from "./json-text.ts";

export interface Mirror {
  /** The header without its prefix. */
  readonly header: string;
  /** Where the argument is. */
  readonly path: readonly string[];
}

export const MIRROR_PREFIX = "mcp-param-";

/** Which member of the params the `Mcp-Name` header repeats. */
export const nameFields: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

const TYPES = new Set(["string", "integer", "boolean"]);
const NONE: readonly Mirror[] = [];
const known = new WeakMap<object, readonly Mirror[]>();

/** The mirrored arguments that a tool's input schema declares; none if a declaration is invalid. */
export function mirrorsOf(inputSchema: unknown): readonly Mirror[] {
  if (typeof inputSchema !== "object" || inputSchema === null) return NONE;
  let found = known.get(inputSchema);
  if (!found) {
    found = readMirrors(inputSchema);
    known.set(inputSchema, found);
  }
  return found;
}

function readMirrors(inputSchema: object): readonly Mirror[] {
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
  return valid ? found : NONE;
}

/** The argument's value as a header carries it before encoding; undefined: no header. */
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

/** A text as a header value; what a header cannot carry as it is goes in base64. */
export function encodeHeader(value: string): string {
  const isPlain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(value);
  const looksEncoded = value.startsWith(OPEN) && value.endsWith(CLOSE);
  return isPlain && !looksEncoded ? value : `${OPEN}${Buffer.from(value).toString("base64")}${CLOSE}`;
}

/** Undefined: the header claims to be base64 and is not. */
export function decodeHeader(header: string): string | undefined {
  const value = header.trim();
  if (!value.startsWith(OPEN) || !value.endsWith(CLOSE)) return value;
  const encoded = value.slice(OPEN.length, -CLOSE.length);
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded ? bytes.toString("utf8") : undefined;
}

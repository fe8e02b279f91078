/**
 * Where references to secrets may stand in a server's entry, and how they get from there into its
 * `ServerConfig`.
 */

import type { ServerTransport } from "../../mcp/links/transport.ts";
import type { KeyPath } from "../problems/locate.ts";
import type { SecretText, TextPart } from "../secret-reference.ts";

/** A text with references, at its path in the file. */
export interface SecretPlace {
  readonly path: KeyPath;
  readonly parts: readonly TextPart[];
}

const NAMED = new Set<unknown>(["args", "env", "headers"]);
const URLS = new Set<unknown>(["url", "serverUrl"]);
/** The keys of a login by how they are written. */
const LOGIN_KEYS = new Map<string, readonly string[]>([
  ["clientSecret", ["clientSecret"]],
  ["CLIENT_SECRET", ["clientSecret"]],
  ["privateKey", ["privateKey"]],
  ["idp.clientSecret", ["idp", "clientSecret"]],
]);

/** `path`: of a text in a server's entry. */
export function isSecretPlace([, , key, ...names]: KeyPath): boolean {
  if (names.length === 0) return URLS.has(key);
  return NAMED.has(key) || (key === "auth" && LOGIN_KEYS.has(names.join(".")));
}

interface Owner {
  /** The path of the entry. */
  readonly path: KeyPath;
  readonly transport: ServerTransport;
  readonly home: string;
}

/** Returns those of one entry that its connection uses. */
export function secretTextsOf({ path, transport, home }: Owner, places: readonly SecretPlace[]): SecretText[] {
  const isProgram = transport.kind === "stdio";
  return places.flatMap(({ path: [section, id, key, ...names], parts }): SecretText[] => {
    if (section !== path[0] || id !== path[1]) return [];
    if (isProgram !== (key === "args" || key === "env")) return [];
    if (URLS.has(key)) return [{ at: ["url"], parts }];
    if (key === "auth") return [{ at: ["auth", ...LOGIN_KEYS.get(names.join("."))!], parts }];
    const [first, ...rest] = parts;
    const isInHome = key === "args" && typeof first === "string" && /^~[/\\]/.test(first);
    const own = isInHome ? [home + first.slice(1), ...rest] : parts;
    return [{ at: [key!, names[0]!], parts: own }];
  });
}

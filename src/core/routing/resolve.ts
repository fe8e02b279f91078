/**
 * Resolves a request to its server, the server's own identifier, and the params that contain it.
 *
 * Pure: it takes a call and a snapshot, and returns a route. Names and URIs are looked up, never
 * split. An unknown or ambiguous identifier is an error here, and no server sees it. If the server
 * is still starting, the error says so (`awaits`), and the relay makes a `LateRoute`.
 */

import { memberText, setMember } from "../../lib/json/json-text.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { RoutedMethod } from "../../mcp/protocol/methods.ts";
import type { ResultRules } from "../../mcp/protocol/results/result-rules.ts";
import { assertStarted, namedOrThrow, resolvedOrThrow } from "../../upstream/catalog/find-or-throw.ts";
import type { NamedEntry } from "../../upstream/catalog/named.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";

export interface Route {
  readonly spec: RoutedMethod;
  readonly serverId: string;
  /** The identifier as clients know it, for logs and metrics. */
  readonly name: string;
  /** The identifier that the server knows. */
  readonly target: string;
  /** The params for the server, in JSON. */
  readonly params: string;
  /** The tool's own timeout, if it has one. */
  readonly timeoutMs: number | undefined;
  /** What becomes of the result. Undefined: nothing. */
  readonly results: ResultRules | undefined;
  /** The snapshot that the route was found in. It also translates the identifiers in the answer. */
  readonly snapshot: Snapshot;
  readonly mimeType: string | undefined;
}

export function resolve(call: Call, spec: RoutedMethod, snapshot: Snapshot): Route {
  const route = routeOf(call, spec, snapshot);
  // Its lists are those of an earlier process: only the server knows whether they still hold.
  assertStarted(snapshot, [route.serverId]);
  return route;
}

function routeOf(call: Call, spec: RoutedMethod, snapshot: Snapshot): Route {
  switch (spec.names) {
    case "tool":
      return namedRoute(call, spec, snapshot, findTool(call, snapshot));
    case "prompt":
      return namedRoute(call, spec, snapshot, findPrompt(call, snapshot));
    case "resource":
      return listedRoute(call, spec, snapshot);
    case "reference":
      return referenceRoute(call, spec, snapshot);
    case "extension":
      throw new GoblinError("METHOD_NOT_FOUND", `Method not found: ${call.method}`);
  }
}

function findTool(call: Call, snapshot: Snapshot): NamedEntry {
  return namedOrThrow("tool", snapshot, stringParam(call, "name"));
}

function findPrompt(call: Call, snapshot: Snapshot): NamedEntry {
  const entry = namedOrThrow("prompt", snapshot, stringParam(call, "name"));
  const given = call.params["arguments"];
  const missing = requiredArguments(entry).filter((argument) => !hasValue(given, argument));
  if (missing.length === 0) return entry;
  const message = `Prompt ${entry.exposed} needs ${missing.map((argument) => `"${argument}"`).join(", ")}`;
  throw new GoblinError("PROMPT_INVALID_ARGS", message, { data: { missing, serverId: entry.serverId } });
}

function requiredArguments(entry: NamedEntry): string[] {
  const declared = entry.definition.value["arguments"];
  if (!Array.isArray(declared)) return [];
  return declared.flatMap((argument: unknown) => {
    const { name, required } = (argument ?? {}) as { name?: unknown; required?: unknown };
    return required === true && typeof name === "string" ? [name] : [];
  });
}

function hasValue(values: unknown, key: string): boolean {
  if (typeof values !== "object" || values === null || !Object.hasOwn(values, key)) return false;
  const value = (values as Record<string, unknown>)[key];
  return value !== undefined && value !== null;
}

function namedRoute(call: Call, spec: RoutedMethod, snapshot: Snapshot, entry: NamedEntry): Route {
  return {
    spec,
    snapshot,
    serverId: entry.serverId,
    name: entry.exposed,
    target: entry.name,
    params: withName(call, quoted(entry.name)),
    timeoutMs: entry.override?.timeoutMs,
    results: entry.results,
    mimeType: undefined,
  };
}

/** Names of which no character is escaped in JSON, as nearly all names are. */
const PLAIN = /^[\w./-]*$/;

function quoted(name: string): string {
  return PLAIN.test(name) ? `"${name}"` : JSON.stringify(name);
}

/** Returns the params of a call with another name, in JSON. */
function withName({ text, nameAt }: Call, name: string): string {
  return nameAt ? text.slice(0, nameAt.start) + name + text.slice(nameAt.end) : setMember(text, "name", name);
}

function listedRoute(call: Call, spec: RoutedMethod, snapshot: Snapshot): Route {
  const uri = stringParam(call, "uri");
  const found = findResource(snapshot, uri);
  const definition =
    found.via === "resource"
      ? snapshot.resource(found.serverId, found.position)
      : snapshot.template(found.serverId, found.position);
  const mimeType = definition?.value["mimeType"];
  const route = resourceRoute(call, spec, { snapshot, uri, found });
  return typeof mimeType === "string" ? { ...route, mimeType } : route;
}

export interface FoundUri {
  readonly snapshot: Snapshot;
  /** The URI as the client knows it. */
  readonly uri: string;
  readonly found: { readonly serverId: string; readonly uri: string };
}

export function resourceRoute(call: Call, spec: RoutedMethod, { snapshot, uri, found }: FoundUri): Route {
  return {
    spec,
    snapshot,
    serverId: found.serverId,
    name: uri,
    target: found.uri,
    params: setMember(call.text, "uri", JSON.stringify(found.uri)),
    timeoutMs: undefined,
    results: undefined,
    mimeType: undefined,
  };
}

/** Returns the server of a resource, by any form of its URI. */
export function findResource(snapshot: Snapshot, uri: string) {
  const found = resolvedOrThrow(snapshot.resources.resolve(uri), snapshot, uri);
  assertStarted(snapshot, [found.serverId]);
  return found;
}

function referenceRoute(call: Call, spec: RoutedMethod, snapshot: Snapshot): Route {
  const ref = call.params["ref"] as { type?: unknown; name?: unknown; uri?: unknown } | undefined;
  // A server may look at the other one.
  if (ref?.name !== undefined && ref.uri !== undefined)
    throw new GoblinError(
      "INVALID_PARAMS",
      'Invalid params: "ref" has both "name" and "uri"; send the one of its type',
    );
  if (ref?.type === "ref/prompt" && typeof ref.name === "string") {
    const entry = namedOrThrow("prompt", snapshot, ref.name);
    const params = withReference(call.text, "name", entry.name);
    return { ...namedRoute(call, spec, snapshot, entry), params };
  }
  if (ref?.type === "ref/resource" && typeof ref.uri === "string") {
    const { uri } = ref;
    const found = resolvedOrThrow(snapshot.resources.resolveTemplate(uri), snapshot, uri);
    return {
      spec,
      snapshot,
      serverId: found.serverId,
      name: uri,
      target: found.uri,
      params: withReference(call.text, "uri", found.uri),
      timeoutMs: undefined,
      results: undefined,
      mimeType: undefined,
    };
  }
  throw new GoblinError(
    "INVALID_PARAMS",
    'completion/complete needs a "ref" of type ref/prompt with "name" or ref/resource with "uri"',
  );
}

export function stringParam(call: Call, key: string): string {
  const value = call.params[key];
  if (typeof value === "string") return value;
  throw new GoblinError("INVALID_PARAMS", `${call.method} needs "${key}", a string`);
}

/** Replaces the identifier in `ref`. */
function withReference(params: string, key: string, value: string): string {
  return setMember(params, "ref", setMember(memberText(params, "ref")!, key, JSON.stringify(value)));
}

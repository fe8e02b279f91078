/**
 * Routes methods that the gateway does not know, of extensions that a server declared. The request
 * names the server by a task id, a URI or a name, or only one server has the extension. If there is
 * one server in all, every unknown method is its. The gateway never guesses the server. If no
 * server has it, the request waits for those that are starting. An identifier under the prefix of a
 * configured server never goes to another one.
 */

import { setMember } from "../../lib/json/json-text.ts";
import { recordOf } from "../../lib/structures/record.ts";
import { splitTaskId, type TaskIdParts } from "../../mcp/identifiers/task-ids.ts";
import type { Call, Client } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { isCustomNotification, isLookalike, mcpFamilies, type RoutedMethod } from "../../mcp/protocol/methods.ts";
import type { ResultRules } from "../../mcp/protocol/results/result-rules.ts";
import { assertStarted, assertThere, namedOrThrow, resolvedOrThrow } from "../../upstream/catalog/find-or-throw.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import type { ServerInfo } from "../../upstream/servers/servers.ts";
import { type Route, stringParam } from "./resolve.ts";

export interface ExtensionOptions {
  /** The servers that declared the extension. */
  readonly owners: readonly string[];
  readonly snapshot: Snapshot;
  readonly tasks: {
    /** Whether a task id belongs to this client. */
    opens(serverId: string, parts: TaskIdParts, client: Client): boolean;
    /** The tool that started a task, by the name that clients know. */
    toolOf(serverId: string, taskId: string, client: Client): string | undefined;
  };
}

export const EXTENSION: RoutedMethod = { names: "extension", field: "name", timeout: "TIMEOUT" };

/** Returns the servers that declared the extension of a method such as `tasks/get`. */
export function declaringServers(method: string, servers: readonly ServerInfo[]): string[] {
  const family = familyOf(method);
  if (family === undefined || isLookalike(method)) return [];
  return servers.filter(({ info }) => info && declares(info.capabilities, method, family)).map(({ id }) => id);
}

/**
 * Returns the servers that a method can be meant for: those that declared its extension. A method
 * that nobody declared can only be meant for the only server.
 */
export function extensionOwners(method: string, servers: readonly ServerInfo[]): string[] {
  const declared = declaringServers(method, servers);
  const family = familyOf(method);
  if (declared.length > 0 || family === undefined || mcpFamilies.has(family) || isLookalike(method)) return declared;
  return servers.length === 1 && servers[0]!.info ? [servers[0]!.id] : [];
}

/** Returns the one server that a client's notification can be meant for. */
export function notifiedServer(method: string, servers: readonly ServerInfo[]): string | undefined {
  if (!isCustomNotification(method)) return undefined;
  const [first = "", ...rest] = method.split("/");
  const subject = first === "notifications" ? rest.join("/") : method;
  const family = subject.split("/")[0]!;
  const declared = servers.filter(({ info }) => info && declares(info.capabilities, subject, family));
  const [only, ...others] = declared.length > 0 ? declared : servers;
  return others.length === 0 && only?.info ? only.id : undefined;
}

/** Whether a server that is still starting may declare the extension of this method. */
export function mayBeDeclared(method: string, snapshot: Snapshot): boolean {
  return familyOf(method) !== undefined && startingServers(snapshot).length > 0;
}

/** Throws the error for a method that no server offers. It waits for servers that may. */
export function notOffered(method: string, snapshot: Snapshot): never {
  assertThere(snapshot, startingServers(snapshot));
  throw new GoblinError("METHOD_NOT_FOUND", `Method not found: ${method.slice(0, 100)}`);
}

function startingServers({ servers }: Snapshot): string[] {
  return servers.filter(({ standing }) => standing.kind === "starting").map(({ id }) => id);
}

/** Returns the extension's part of a method. A method without a slash belongs to no extension. */
function familyOf(method: string): string | undefined {
  const family = method.slice(0, Math.max(0, method.indexOf("/")));
  return family === "" || family === "notifications" ? undefined : family;
}

function declares(capabilities: Readonly<Record<string, unknown>>, method: string, family: string): boolean {
  if (family === "tasks" && "tasks" in capabilities) return true;
  const isMeant = (name: string): boolean =>
    name === method || name.startsWith(`${family}/`) || name.slice(name.lastIndexOf("/") + 1) === family;
  return ["extensions", "experimental"].some((key) => Object.keys(recordOf(capabilities[key])).some(isMeant));
}

export function resolveExtension(call: Call, options: ExtensionOptions): Route {
  const { owners, snapshot } = options;
  const sole = owners.length === 1 ? owners[0] : undefined;
  const found =
    ownerByIdentifier(call, sole, options) ?? (sole && { serverId: sole, params: call.text, results: undefined });
  if (!found && owners.length === 0) return notOffered(call.method, snapshot);
  if (!found) {
    const message = `${call.method} is offered by several servers (${owners.join(", ")}) and the request does not name one`;
    throw new GoblinError("AMBIGUOUS", message, { data: { candidates: owners } });
  }
  if (!owners.includes(found.serverId)) {
    assertThere(snapshot, [found.serverId]);
    throw new GoblinError("METHOD_NOT_FOUND", `Server "${found.serverId}" does not offer ${call.method}`);
  }
  assertStarted(snapshot, [found.serverId]);
  return {
    spec: EXTENSION,
    snapshot,
    serverId: found.serverId,
    name: call.method,
    target: call.method,
    params: found.params,
    timeoutMs: undefined,
    results: found.results,
    mimeType: undefined,
  };
}

interface Owner {
  readonly serverId: string;
  readonly params: string;
  /** What becomes of the result of a task. */
  readonly results: ResultRules | undefined;
}

function ownerByIdentifier(
  call: Call,
  sole: string | undefined,
  { snapshot, tasks }: ExtensionOptions,
): Owner | undefined {
  const { taskId, uri, name } = call.params;
  // A task method must name one task, whose owner is known. A client must never see a server's own
  // view of all tasks.
  if (typeof taskId === "string" || call.method.startsWith("tasks/")) {
    const asked = stringParam(call, "taskId");
    const split = splitTaskId(asked);
    const serverId = split && snapshot.resources.serverOfPrefix(split.prefix);
    const isOpen = serverId !== undefined && snapshot.standing(serverId).kind !== "disabled";
    if (!split || !isOpen || !tasks.opens(serverId, split, call.client))
      throw new GoblinError("INVALID_PARAMS", `Task not found: ${asked.slice(0, 200)}`);
    const { taskId: own } = split;
    const tool = tasks.toolOf(serverId, own, call.client);
    const results = rulesOf(snapshot, serverId, tool);
    return { serverId, params: setMember(call.text, "taskId", JSON.stringify(own)), results };
  }
  if (typeof uri === "string") {
    const found = snapshot.resources.resolve(uri);
    if (found.kind === "found") return ownerOf(call, "uri", { serverId: found.serverId, own: found.uri });
    const isHidden = sole !== undefined && snapshot.resources.isHidden(uri, sole);
    if (isHidden || mustExist(snapshot.resources.claimants(uri), sole, snapshot)) resolvedOrThrow(found, snapshot, uri);
  }
  if (typeof name === "string") {
    const entry = snapshot.tools.find(name) ?? snapshot.prompts.find(name);
    if (entry) return ownerOf(call, "name", { serverId: entry.serverId, own: entry.name });
    // The empty prefix matches every name, so it claims nothing.
    const claimants = snapshot.tools.claimants(name).filter((id) => !snapshot.claims.isCatchAll(id));
    if (mustExist(claimants, sole, snapshot)) namedOrThrow("tool", snapshot, name);
  }
  return undefined;
}

/**
 * Whether an identifier under these servers' prefixes must be in the catalog to be forwarded: no
 * other server may get it.
 */
function mustExist(claimants: readonly string[], sole: string | undefined, snapshot: Snapshot): boolean {
  const shown = claimants.filter((id) => snapshot.shows(id));
  return shown.some((id) => id !== sole || snapshot.standing(id).kind !== "known");
}

function ownerOf(call: Call, key: string, { serverId, own }: { serverId: string; own: string }): Owner {
  return { serverId, params: setMember(call.text, key, JSON.stringify(own)), results: undefined };
}

/** The rules of the tool that started a task; of its server, if the tool is not known. */
function rulesOf(snapshot: Snapshot, serverId: string, tool: string | undefined): ResultRules | undefined {
  const entry = tool === undefined ? undefined : snapshot.tools.find(tool);
  return entry ? entry.results : snapshot.servers.find(({ id }) => id === serverId)?.tools.results;
}

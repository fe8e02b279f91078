/**
 * The gateway's description of itself to a client: its own features, its servers' capabilities, and
 * their instructions under their names. An extension is listed only if both the client and at least
 * one server have it; tasks also if calls may wait for a person.
 */

import { recordOf } from "../../lib/structures/record.ts";
import type { PeerInfo } from "../../mcp/peers/peer.ts";
import { TASKS } from "../../mcp/protocol/envelope.ts";
import type { NamedEntry } from "../../upstream/catalog/named.ts";
import type { ServerInfo } from "../../upstream/servers/servers.ts";
import { type Behind, instructionsOf } from "./instructions.ts";

export interface Described {
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
}

export interface DescribeOptions {
  readonly settled: boolean;
  /** Whether the only server is to be described in its own words. */
  readonly isAlone: boolean;
  readonly client: Readonly<Record<string, unknown>>;
  readonly behind: Behind;
  /** Whether calls of this client may wait for a person, which the gateway has tasks for. */
  readonly mayAsk: boolean;
}

export function describeServers(servers: readonly ServerInfo[], options: DescribeOptions): Described {
  const { settled, isAlone, client, behind, mayAsk } = options;
  const infos = servers.flatMap(({ info }) => (info ? [info] : []));
  // A server that is still starting may support completion. A client never asks for a capability
  // that it was not told of at the start.
  const completes = !settled || infos.some(({ capabilities }) => "completions" in capabilities);
  const extensions = sharedExtensions(infos, client);
  if (mayAsk && Object.hasOwn(extensionsOf(client), TASKS)) extensions[TASKS] ??= {};
  const experimental = Object.assign(
    {},
    ...infos.map(({ capabilities }) => recordOf(capabilities["experimental"])).reverse(),
  ) as Record<string, unknown>;
  const tasks = "tasks" in client && (mayAsk || infos.some(({ capabilities }) => "tasks" in capabilities));
  return {
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      logging: {},
      ...(completes && { completions: {} }),
      ...(tasks && { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
      ...(Object.keys(extensions).length > 0 && { extensions }),
      ...(Object.keys(experimental).length > 0 && { experimental }),
    },
    instructions: isAlone ? infos[0]?.instructions : instructionsOf(servers, behind),
  };
}

/**
 * Returns the extensions that the client and a server share, each as the first of its servers
 * describes it.
 */
function sharedExtensions(
  infos: readonly PeerInfo[],
  client: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const known = extensionsOf(client);
  const shared: Record<string, unknown> = {};
  for (const { capabilities } of infos) {
    for (const [name, value] of Object.entries(extensionsOf(capabilities))) {
      if (Object.hasOwn(known, name) && !Object.hasOwn(shared, name)) shared[name] = value;
    }
  }
  return shared;
}

function extensionsOf(capabilities: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return recordOf(capabilities["extensions"]);
}

/** Returns a tool's output schema and the protocol version of its server. */
export function describeOutput(
  entry: NamedEntry | undefined,
  servers: readonly ServerInfo[],
): { readonly schema: unknown; readonly version: string } | undefined {
  const version = servers.find(({ id }) => id === entry?.serverId)?.info?.protocolVersion;
  return entry && version !== undefined ? { schema: entry.definition.value["outputSchema"], version } : undefined;
}

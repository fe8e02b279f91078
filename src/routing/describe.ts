/**
 * The gateway's description of itself to a client: its own features, its servers' capabilities, and
 * their instructions under their names. An extension is listed only if both the client and at least
 * one server have it.
 */

import type { NamedEntry } from "../catalog/named.ts";
import type { PeerInfo } from "../peers/peer.ts";
import type { ServerInfo } from "../servers/servers.ts";
import { recordOf } from "../structures/record.ts";

export interface Described {
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
}

export interface DescribeOptions {
  readonly settled: boolean;
  readonly client: Readonly<Record<string, unknown>>;
}

export function describeServers(servers: readonly ServerInfo[], { settled, client }: DescribeOptions): Described {
  const infos = servers.flatMap(({ info }) => (info ? [info] : []));
  // A server that is still starting may support completion. A client never asks for a capability
  // that it was not told of at the start.
  const completes = !settled || infos.some(({ capabilities }) => "completions" in capabilities);
  const extensions = sharedExtensions(infos, client);
  const tasks = "tasks" in client && infos.some(({ capabilities }) => "tasks" in capabilities);
  const instructions = servers.flatMap(({ id, info }) => (info ? sectionOf(id, info) : [])).join("\n\n");
  return {
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      logging: {},
      ...(completes && { completions: {} }),
      ...(tasks && { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
      ...(Object.keys(extensions).length > 0 && { extensions }),
    },
    instructions: instructions === "" ? undefined : instructions,
  };
}

const BREAK = "\\n\\r\\v\\f\\u0085\\u2028\\u2029";
const HEADING = new RegExp(`(^|[${BREAK}])([ \\t]*#+)(?![\\d#])`, "g");
const UNDERLINE = new RegExp(`(\\S[ \\t]*(?:\\r\\n|[${BREAK}])[ \\t]*)(=+|-+)(?=[ \\t]*(?:$|[${BREAK}]))`, "g");
const FENCE = new RegExp(`(?:^|[${BREAK}])[ \\t]*(\`\`\`|~~~)`, "g");

const sections = new WeakMap<PeerInfo, string>();

/**
 * Returns a server's instructions under its name. Its headings move down two levels and open code
 * blocks are closed, so that no line can imitate another server's section. The length was bounded
 * on arrival.
 */
function sectionOf(id: string, info: PeerInfo): string[] {
  if (!info.instructions) return [];
  let text = sections.get(info);
  if (text === undefined) {
    text = info.instructions.trim().replace(HEADING, "$1$2##").replace(UNDERLINE, "$1\\$2");
    const fences = [...text.matchAll(FENCE)];
    if (fences.length % 2 === 1) text += `\n${fences.at(-1)![1]}`;
    sections.set(info, text);
  }
  return [`## ${id}\n\n${text}`];
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

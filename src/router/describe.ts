/**
 * What the gateway says of itself to a client: the union of what its servers can do, and their instructions under their names.
 */
import type { PeerInfo } from "../backend/backend.ts";

export interface Described {
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
}

export interface DescribeSource {
  readonly id: string;
  /** Undefined while the server is not connected. */
  readonly info: PeerInfo | undefined;
}

export function describeServers(servers: readonly DescribeSource[], options: { readonly settled: boolean }): Described {
  // A server that is still starting may turn out to complete; what a client is not told now it will never ask for.
  const completes = !options.settled || servers.some(({ info }) => info && "completions" in info.capabilities);
  const instructions = servers
    .flatMap(({ id, info }) => (info?.instructions ? [`## ${id}\n\n${info.instructions.trim()}`] : []))
    .join("\n\n");
  return {
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      logging: {},
      ...(completes && { completions: {} }),
    },
    instructions: instructions === "" ? undefined : instructions,
  };
}

/**
 * Reports the token cost of the tool list: per server, in total, and for other exposures. Also
 * reports names that model APIs refuse.
 *
 * Pure: a snapshot in, numbers out. All numbers are estimates of `text/token-estimate.ts`.
 */
import type { NamedEntry } from "./named.ts";
import type { Snapshot } from "./snapshot.ts";
import { toolTokens } from "./tool-tokens.ts";

export interface ToolCost {
  readonly name: string;
  readonly serverId: string;
  readonly tokens: number;
  readonly listed: boolean;
}

export interface ServerCost {
  readonly serverId: string;
  readonly tools: number;
  readonly tokens: number;
  /** The part that is listed now. */
  readonly listedTools: number;
  readonly listedTokens: number;
}

export interface ListCost {
  readonly tools: number;
  readonly tokens: number;
}

export interface TokenReport {
  /** The effective mode: "auto" is resolved. */
  readonly mode: "all" | "search";
  readonly servers: readonly ServerCost[];
  /** The gateway's own tools, which are in every list. */
  readonly own: ListCost;
  /** The list with every tool. */
  readonly all: ListCost;
  /** The list with `tools.expose: "search"`, plus the tools that servers' settings list. */
  readonly search: ListCost;
  /** The current list. */
  readonly listed: ListCost;
  /** The servers' tools, heaviest first. */
  readonly tools: readonly ToolCost[];
  /** Names that do not match `^[a-zA-Z0-9_-]{1,64}$`. Some model APIs refuse them. */
  readonly refusedNames: readonly { readonly name: string; readonly serverId: string }[];
}

/** The tool names that the strictest common model APIs accept. */
export const MODEL_API_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export function reportTokens(snapshot: Snapshot): TokenReport {
  const { entries } = snapshot.tools;
  const own = { tools: snapshot.local.length, tokens: total(snapshot.local) };
  const costOf = (tools: readonly NamedEntry[], local = snapshot.local): ListCost => ({
    tools: local.length + tools.length,
    tokens: total(local) + total(tools),
  });
  const byServer = new Map<string, NamedEntry[]>(snapshot.servers.map(({ id }) => [id, []]));
  for (const entry of entries) byServer.get(entry.serverId)?.push(entry);
  const { isListed } = snapshot.exposure;
  const searchOnly = snapshot.exposureIn("search");
  return {
    mode: snapshot.exposure.mode,
    servers: [...byServer].map(([serverId, tools]) => {
      const listed = tools.filter(isListed);
      return {
        serverId,
        tools: tools.length,
        tokens: total(tools),
        listedTools: listed.length,
        listedTokens: total(listed),
      };
    }),
    own,
    all: costOf(entries, snapshot.localIn("all")),
    search: costOf(entries.filter(searchOnly.isListed), snapshot.localIn("search")),
    listed: costOf(entries.filter(isListed)),
    tools: entries
      .map((entry) => ({
        name: entry.exposed,
        serverId: entry.serverId,
        tokens: toolTokens(entry),
        listed: isListed(entry),
      }))
      .sort((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1)),
    refusedNames: entries
      .filter(({ exposed }) => !MODEL_API_NAME.test(exposed))
      .map(({ exposed, serverId }) => ({ name: exposed, serverId })),
  };
}

function total(tools: readonly { readonly text: string }[]): number {
  return tools.reduce((sum, tool) => sum + toolTokens(tool), 0);
}

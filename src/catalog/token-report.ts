/**
 * What the tool list costs a model before its first word: for each server, for the whole list, and
 * for the list that would be there with another exposure. Also the names that model APIs do not
 * take.
 *
 * Pure: a snapshot in, numbers out. All of them are estimates by the one estimator of
 * `text/token-estimate.ts`.
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
  /** Of these, what is in the list now. */
  readonly listedTools: number;
  readonly listedTokens: number;
}

export interface ListCost {
  readonly tools: number;
  readonly tokens: number;
}

export interface TokenReport {
  /** How tools are listed now; what "auto" came to. */
  readonly mode: "all" | "search";
  readonly servers: readonly ServerCost[];
  /** The gateway's own tools; part of every list. */
  readonly own: ListCost;
  /** The list with every tool in it. */
  readonly all: ListCost;
  /** The list with `tools.expose: "search"`, and what servers' own settings keep in it. */
  readonly search: ListCost;
  /** The list as it is. */
  readonly listed: ListCost;
  /** The servers' tools, first the heaviest. */
  readonly tools: readonly ToolCost[];
  /** Names that do not match `^[a-zA-Z0-9_-]{1,64}$`, which some model APIs ask for. */
  readonly refusedNames: readonly { readonly name: string; readonly serverId: string }[];
}

/** What the strictest of the common model APIs take as the name of a tool. */
export const MODEL_API_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export function reportTokens(snapshot: Snapshot): TokenReport {
  const { entries } = snapshot.tools;
  const own = { tools: snapshot.local.length, tokens: total(snapshot.local) };
  const costOf = (tools: readonly NamedEntry[]): ListCost => ({
    tools: own.tools + tools.length,
    tokens: own.tokens + total(tools),
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
    all: costOf(entries),
    search: costOf(entries.filter(searchOnly.isListed)),
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

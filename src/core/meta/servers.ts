/**
 * The meta tools about the gateway and its servers: which servers there are, their health, and the
 * token cost of their tools.
 *
 * Invariant: of a server's config, only its id and its kind of transport are shown.
 */
import * as z from "zod";
import { shownTransports } from "../../config/schema/server.ts";
import { lazy } from "../../lib/structures/lazy.ts";
import { serverStates } from "../../mcp/protocol/server-states.ts";
import { reportTokens } from "../../upstream/catalog/token-report.ts";
import type { ServerHealth } from "../../upstream/servers/health.ts";
import { serverIdFilter } from "./cards.ts";
import { defineMetaTool } from "./define.ts";

const count = lazy(() => z.int());
const state = lazy(() => z.enum(serverStates));

export const catalogServers = defineMetaTool({
  name: "catalog_servers",
  title: "List all servers",
  description:
    "Lists the servers behind this gateway: state, how much each offers, and what its tool definitions cost in tokens (estimated). With serverId also the cost of each of its tools.",
  input: () => z.strictObject({ serverId: serverIdFilter() }),
  output: () =>
    z.object({
      servers: z.array(
        z.object({
          serverId: z.string(),
          title: z.string().optional(),
          version: z.string().optional(),
          transport: z.enum(shownTransports),
          state: state(),
          tools: count(),
          prompts: count(),
          resources: count(),
          templates: count(),
          tokens: count().describe("of all its tools"),
          listedTools: count(),
          listedTokens: count().describe("of its tools that are in the tool list"),
          toolTokens: z.array(z.object({ name: z.string(), tokens: count() })).optional(),
        }),
      ),
      expose: z.enum(["all", "search"]).describe("how tools are listed now"),
      tokens: z.object({
        all: count().describe("a tool list with every tool"),
        search: count().describe("a tool list for searching"),
        listed: count().describe("the tool list as it is"),
      }),
    }),
  run: ({ serverId }, { catalog, health }, { client }) => {
    const current = catalog.view(client);
    const report = reportTokens(current);
    const costs = new Map(report.servers.map((cost) => [cost.serverId, cost]));
    const amounts = [current.prompts.entries, current.resources.resources, current.resources.templates].map(countBy);
    const shown = health
      .servers()
      .filter(({ serverId: id }) => current.shows(id) && (serverId === undefined || id === serverId));
    return {
      servers: shown.map(({ serverId: id, title, version, transport, state }) => {
        const cost = costs.get(id);
        return {
          serverId: id,
          ...(title !== undefined && { title }),
          ...(version !== undefined && { version }),
          transport,
          state,
          tools: cost?.tools ?? 0,
          prompts: amounts[0]?.get(id) ?? 0,
          resources: amounts[1]?.get(id) ?? 0,
          templates: amounts[2]?.get(id) ?? 0,
          tokens: cost?.tokens ?? 0,
          listedTools: cost?.listedTools ?? 0,
          listedTokens: cost?.listedTokens ?? 0,
          ...(serverId !== undefined && {
            toolTokens: report.tools
              .filter((tool) => tool.serverId === id)
              .map(({ name, tokens }) => ({ name, tokens })),
          }),
        };
      }),
      expose: report.mode,
      tokens: { all: report.all.tokens, search: report.search.tokens, listed: report.listed.tokens },
    };
  },
});

export const goblinHealth = defineMetaTool({
  name: "goblin_health",
  title: "Gateway health",
  description: "Reports the health of this gateway and of each server behind it. Look here when calls fail.",
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      status: z.enum(["ok", "starting", "degraded", "down"]),
      version: z.string(),
      uptimeMs: count(),
      configValid: z.boolean(),
      servers: z.array(
        z.object({
          serverId: z.string(),
          state: state(),
          reason: z.string().optional(),
          sinceMs: count().describe("how long it has been in this state"),
          restarts: count(),
          inFlight: count(),
          queued: count(),
          retryAfterMs: count().optional(),
          protocolVersion: z.string().optional(),
        }),
      ),
    }),
  run: (_input, { health, catalog }, { client }) => {
    const { version, uptimeMs, settled, configValid } = health.gateway();
    const view = catalog.view(client);
    const all = health.servers().filter(({ serverId }) => view.shows(serverId));
    return {
      status: statusOf(all, settled),
      version,
      uptimeMs,
      configValid,
      servers: all.map(({ serverId, state, reason, since, restarts, inFlight, queued, ...rest }) => ({
        serverId,
        state,
        ...(reason !== undefined && { reason }),
        sinceMs: Math.max(0, Math.round(Date.now() - since)),
        restarts,
        inFlight,
        queued,
        ...(rest.retryAfterMs !== undefined && { retryAfterMs: Math.round(rest.retryAfterMs) }),
        ...(rest.protocolVersion !== undefined && { protocolVersion: rest.protocolVersion }),
      })),
    };
  },
});

function statusOf(servers: readonly ServerHealth[], settled: boolean): "ok" | "starting" | "degraded" | "down" {
  if (!settled) return "starting";
  const enabled = servers.filter(({ state }) => state !== "disabled");
  if (enabled.every(({ state }) => state === "ready")) return "ok";
  return enabled.some(({ state }) => state === "ready" || state === "degraded") ? "degraded" : "down";
}

function countBy(entries: readonly { readonly serverId: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { serverId } of entries) counts.set(serverId, (counts.get(serverId) ?? 0) + 1);
  return counts;
}

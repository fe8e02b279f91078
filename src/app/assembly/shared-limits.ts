import type { Relay } from "../../core/calls/relay.ts";
import { type BudgetUser, equalPart } from "../../lib/structures/shared-budget.ts";
import type { Backend } from "../../upstream/servers/backend.ts";
import type { Roster } from "../../upstream/servers/roster.ts";

/**
 * The limits that replicas have together: the places of each remote server, and calls in a second.
 * Each replica runs its own program of a stdio server, which has all its places.
 */
export function sharedLimits(roster: Pick<Roster, "values">, { limits }: Pick<Relay, "limits">): BudgetUser {
  const backends = (): Backend[] =>
    [...roster.values()].filter(({ config }) => config.transport.kind !== "stdio").map(({ backend }) => backend);
  return {
    budgets: () => [...backends().map(({ budget }) => budget), ...limits.budgets()],
    split(gateways) {
      for (const { budget } of backends()) budget.grant(equalPart(budget.limit, gateways));
      limits.split(gateways);
    },
  };
}

/** Makes the relay, and divides its limits among replicas. */
import { Relay } from "../calls/relay.ts";
import type { RelayParts } from "../calls/relay-parts.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Backend } from "../servers/backend.ts";
import type { Roster } from "../servers/roster.ts";
import { type BudgetUser, equalPart } from "../structures/shared-budget.ts";

export function createRelay({ cluster, ...parts }: RelayParts & { readonly cluster: Cluster | undefined }): Relay {
  const relay = new Relay(parts);
  cluster?.divide(sharedLimits(parts.servers.roster, relay));
  return relay;
}

/**
 * The limits that replicas have together: the places of each remote server, and calls in a second.
 * Each replica runs its own program of a stdio server, which has all its places.
 */
function sharedLimits(roster: Pick<Roster, "values">, { limits }: Pick<Relay, "limits">): BudgetUser {
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

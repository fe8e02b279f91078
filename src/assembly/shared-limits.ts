/**
 * The limits that replicas have together: the places of each remote server, and calls in a second.
 * Each replica runs its own program of a stdio server, which has all its places.
 */
import type { Relay } from "../calls/relay.ts";
import type { Backend } from "../servers/backend.ts";
import type { Servers } from "../servers/servers.ts";
import { type BudgetUser, equalPart } from "../structures/shared-budget.ts";

type Reachable = Pick<Servers, "ids" | "backend" | "config">;

export function sharedLimits(servers: Reachable, { limits }: Pick<Relay, "limits">): BudgetUser {
  const isRemote = (id: string): boolean => servers.config(id)?.transport.kind !== "stdio";
  const backends = (): Backend[] =>
    servers
      .ids()
      .filter(isRemote)
      .flatMap((id) => servers.backend(id) ?? []);
  return {
    budgets: () => [...backends().map(({ budget }) => budget), ...limits.budgets()],
    split(gateways) {
      for (const { budget } of backends()) budget.grant(equalPart(budget.limit, gateways));
      limits.split(gateways);
    },
  };
}

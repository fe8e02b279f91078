/** Reports what is wrong with the policy of a config, at its place in the file. */
import { policyProblems } from "../../policy/problems.ts";
import type { Report } from "../problems/report.ts";
import type { ConfigFile } from "../schema/config.ts";
import type { ServerConfig } from "../schema/server.ts";

export function reportPolicy(
  file: Pick<ConfigFile, "policy" | "gateway">,
  servers: readonly ServerConfig[],
  report: Report,
): void {
  const { oauth, clients, pairing } = file.gateway.auth;
  const problems = policyProblems(file.policy, {
    serverIds: servers.map(({ id }) => id),
    clients: Object.keys(clients),
    issuers: oauth?.issuers.map(({ issuer }) => issuer) ?? [],
    hasClaims: oauth !== undefined || pairing,
  });
  for (const { path, message, hint, isWarning } of problems) {
    if (isWarning) report.warn(["policy", ...path], message, { hint });
    else report.error(["policy", ...path], message, { hint });
  }
}

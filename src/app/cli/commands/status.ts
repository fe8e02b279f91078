/**
 * `goblin status`: shows the health of a gateway and its servers. Exit code 0 only if every enabled
 * server is ready.
 */
import { problemLine } from "../../../admin/api/config-problem.ts";
import { adminRoutes } from "../../../admin/api/routes.ts";
import type { GatewayState } from "../../../admin/api/schema.ts";
import { clean } from "../../../lib/text/clean.ts";
import { formatCount, formatDuration } from "../../../lib/text/format.ts";
import { type TargetOptions, withTarget } from "../gateway/target.ts";
import { printJson, printTable } from "../terminal/table.ts";
import { serverColumns } from "./list.ts";

export function status(options: TargetOptions & { readonly json?: boolean | undefined }): Promise<number> {
  return withTarget(options, async (target) => {
    const [state, { items: servers }] = await Promise.all([
      target.request(adminRoutes.getState),
      target.request(adminRoutes.listServers),
    ]);
    const healthy = servers.every((server) => server.state === "ready" || server.state === "disabled");
    if (options.json) printJson({ ...state, servers });
    else {
      const { counts, calls } = state;
      const where = state.endpoint
        ? ` at ${state.endpoint}, up ${formatDuration(state.uptimeMs)}`
        : ", started for this command alone";
      console.log(clean(`Goblin ${state.version}${where}`));
      console.log(clean(`Config ${state.configPath ?? "none: demo servers"}`));
      const { configProblem } = state;
      if (configProblem) {
        const ago = formatDuration(Date.now() - configProblem.at);
        console.log(`  not applied ${ago} ago; the previous config stays in use:`);
        for (const problem of configProblem.problems) console.log(clean(`  ${problemLine(problem)}`));
      }
      console.log(
        `${many(counts.tools, "tool")}, ${many(counts.prompts, "prompt")}, ` +
          `${many(counts.resources, "resource")}, ${many(counts.templates, "template")}; ` +
          `${many(counts.sessions, "session")}, ${many(counts.subscriptions, "subscription")}; ` +
          `${many(calls.total, "call")}, ${formatCount(calls.errors)} failed, ${calls.inFlight} in flight`,
      );
      const nobodys = calls.total - servers.reduce((sum, server) => sum + server.calls, 0);
      const failed = calls.errors - servers.reduce((sum, server) => sum + server.errors, 0);
      // Calls that went to no server are in the sum, and in no row of the table.
      if (nobodys > 0)
        console.log(`${many(nobodys, "call")} went to no server, ${formatCount(Math.max(0, failed))} failed`);
      if (state.cluster) for (const line of clusterLines(state.cluster)) console.log(clean(line));
      console.log("");
      printTable(servers, serverColumns);
      for (const { id, upgrade } of servers) {
        if (upgrade !== null) console.log(clean(`\nA new version of ${id} has not taken over: ${upgrade}`));
      }
    }
    return healthy ? 0 : 1;
  });
}

function clusterLines({ id, redis, replicas, handedOver }: NonNullable<GatewayState["cluster"]>): string[] {
  const revisions = new Set(replicas.map(({ revision }) => revision)).size;
  const known = redis === "connected" ? ` of ${many(replicas.length, "replica")}` : "";
  const differ = revisions > 1 ? `; ${revisions} different configs` : "";
  const lost = redis === "lost" ? "; Redis cannot be reached" : "";
  const silent = replicas
    .filter(({ answers }) => !answers)
    .map(({ id: name, address, lastSeen }) => {
      const ago = formatDuration(Math.max(0, Date.now() - lastSeen));
      return `  replica ${name} at ${address} does not answer; last seen ${ago} ago`;
    });
  return [`Replica ${id}${known}; ${many(handedOver, "request")} handed over${differ}${lost}`, ...silent];
}

function many(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * `goblin preflight <tools>`: whether tools are there and may be called, before a job depends on
 * them.
 *
 * Exit code 0: all are ready. 10: a server is starting or down, so try again. 11: a person must do
 * something: a login, a switched-off server, a rule. 12: nobody knows the tool. The highest counts.
 */
import { adminRoutes } from "../../../admin/api/routes.ts";
import type { ServerRow, ToolRow } from "../../../admin/api/schema.ts";
import { clean } from "../../../lib/text/clean.ts";
import { type Target, type TargetOptions, withTarget } from "../gateway/target.ts";
import { explainByGateway, placeOf } from "../policy/by-gateway.ts";
import { explained } from "../policy/explain.ts";
import { painter } from "../terminal/paint.ts";
import { printJson } from "../terminal/table.ts";

export interface PreflightOptions extends TargetOptions {
  readonly as?: string | undefined;
  readonly json?: boolean | undefined;
}

const codes = { ready: 0, retry: 10, blocked: 11, unknown: 12 } as const;

interface Verdict {
  readonly tool: string;
  readonly state: keyof typeof codes;
  readonly server: string | null;
  readonly reason: string | null;
}

export async function preflight(names: readonly string[], options: PreflightOptions): Promise<number> {
  const { url, token, config } = options;
  const verdicts = await withTarget({ url, token, config, quiet: true }, async (target) => {
    const { items: tools } = await target.request(adminRoutes.listTools);
    const { items: servers } = await target.request(adminRoutes.listServers);
    const judged: Verdict[] = [];
    for (const name of names) judged.push(await judge(name, { tools, servers, options, target }));
    return judged;
  });
  if (options.json) printJson(verdicts);
  else {
    const paint = painter(process.stdout);
    for (const { tool, state, reason } of verdicts) {
      const sign = paint(state === "ready" ? "green" : "red", state.padEnd(7));
      console.log(`${sign}  ${clean(reason === null ? tool : `${tool}: ${reason}`)}`);
    }
  }
  return Math.max(...verdicts.map(({ state }) => codes[state]));
}

interface Known {
  readonly tools: readonly ToolRow[];
  readonly servers: readonly ServerRow[];
  readonly options: PreflightOptions;
  readonly target: Target;
}

async function judge(tool: string, { tools, servers, options, target }: Known): Promise<Verdict> {
  const row = tools.find(({ name, serverId, originalName }) => [name, `${serverId}/${originalName}`].includes(tool));
  const owner = row?.serverId ?? servers.map(({ id }) => id).find((id) => new RegExp(`^${escaped(id)}[/_]`).test(tool));
  const server = servers.find(({ id }) => id === owner);
  const verdict = (state: Verdict["state"], reason: string | null = null): Verdict => {
    return { tool, state, server: server?.id ?? null, reason };
  };
  if (!server) return verdict("unknown", "no server has it");
  const { id, state } = server;
  const why = `server ${id} is ${state}${server.reason === null ? "" : `: ${server.reason}`}`;
  if (state === "needs-login" || state === "disabled" || state === "invalid") return verdict("blocked", why);
  if (state !== "ready" && state !== "degraded") return verdict("retry", why);
  if (!row) return verdict("unknown", `server ${id} does not have it`);
  if (options.as === undefined && options.profile === undefined) return verdict("ready");
  const { as, profile, config } = options;
  if (config === undefined) {
    const answer = await explainByGateway(`${id}/${row.originalName}`, target, { as, profile });
    if (answer.effect === "allow") return verdict("ready");
    const rule = answer.rules.find((one) => one.id === answer.decidedBy);
    return verdict("blocked", rule ? `rule ${rule.id} at ${placeOf(rule.line, answer)}` : answer.why);
  }
  const { explanation, file } = await explained(`${id}/${row.originalName}`, { as, profile, config }, tools);
  const { effect, decidedBy } = explanation;
  if (effect === "allow") return verdict("ready");
  return verdict("blocked", decidedBy ? `rule ${decidedBy.name} at ${file.placeOf(decidedBy)}` : "not visible there");
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

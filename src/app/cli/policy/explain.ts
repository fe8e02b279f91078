/**
 * `goblin explain <tool>`: says who owns a tool, whether a principal may use it, and which rules
 * decide. It asks the running gateway; with `--config`, and if none runs, the config. It calls
 * nothing.
 *
 * Exit code 0 if the principal may use the tool, even if a person is asked first; 1 if not, or if
 * the running gateway's server is not ready.
 */

import type { ExplainResult } from "../../../admin/api/explain/schema.ts";
import { adminRoutes } from "../../../admin/api/routes.ts";
import type { ToolRow } from "../../../admin/api/schema.ts";
import { Access } from "../../../auth/access/access.ts";
import { endpointFor } from "../../../auth/access/endpoints.ts";
import { LiveConfig } from "../../../config/live-config.ts";
import { findConfig } from "../../../config/reading/find.ts";
import type { Config } from "../../../config/schema/config.ts";
import { clean } from "../../../lib/text/clean.ts";
import type { Principal } from "../../../mcp/protocol/principal.ts";
import { askedPrincipal } from "../../../policy/asked-principal.ts";
import { loadConditions } from "../../../policy/conditions/condition.ts";
import { type Explanation, explain as explainItem, type MatchedRule } from "../../../policy/explain.ts";
import { namedConfig } from "../environment.ts";
import { withTarget } from "../gateway/target.ts";
import { printJson } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { exitCodeFor, explainByGateway, printAnswer } from "./by-gateway.ts";
import { ownerByConfig, type PolicyFile, policyOf, readPolicyFile } from "./question.ts";

export interface ExplainOptions {
  readonly as?: string | undefined;
  readonly group?: readonly string[] | undefined;
  readonly scope?: readonly string[] | undefined;
  readonly client?: string | undefined;
  readonly profile?: string | undefined;
  readonly args?: string | undefined;
  readonly config?: string | undefined;
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly json?: boolean | undefined;
}

/** The tool that is asked about. */
interface Asked {
  readonly serverId: string;
  /** The server's own name. */
  readonly name: string;
  /** As the gateway lists it; undefined if no gateway runs, or it does not have the tool. */
  readonly row: ToolRow | undefined;
}

export async function explain(tool: string, options: ExplainOptions): Promise<number> {
  if (options.args !== undefined && !isObject(options.args)) throw new UsageError("--args must be a JSON object");
  const answer = options.config === undefined ? await askGateway(tool, options) : undefined;
  if (answer) return printAnswer(answer, options.json === true);
  const { asked, explanation, file } = await explained(tool, options);
  if (options.json) printJson(inJson(asked, explanation, file));
  else for (const line of linesOf(asked, explanation, file)) console.log(clean(line));
  return exitCodeFor(explanation.effect);
}

/** Returns undefined if no gateway answers, and there is a config to ask instead. */
async function askGateway(tool: string, options: ExplainOptions): Promise<ExplainResult | undefined> {
  const { url, token } = options;
  try {
    return await withTarget({ url, token }, (target) => explainByGateway(tool, target, options));
  } catch (error) {
    const isHere = namedConfig(undefined, process.env) ?? findConfig(process.cwd(), process.env);
    if (error instanceof UsageError || url !== undefined || isHere === undefined) throw error;
    return undefined;
  }
}

export interface Explained {
  readonly asked: Asked;
  readonly explanation: Explanation;
  readonly file: PolicyFile;
}

/** Decides about a tool. `rows`: the tools of a gateway that was asked already. */
export async function explained(tool: string, options: ExplainOptions, rows?: readonly ToolRow[]): Promise<Explained> {
  const file = await readPolicyFile(options.config);
  await loadConditions();
  const asked = findTool(tool, file.config, rows ?? (await listedTools(options)));
  const { as, group, scope, client, args } = options;
  const principal = askedPrincipal({ principal: as, groups: group, scopes: scope, client });
  const byRules = explainItem(policyOf(file.config), {
    principal,
    item: { kind: "tool", serverId: asked.serverId, name: asked.name, annotations: asked.row?.annotations },
    args,
    schema: asked.row?.inputSchema,
  });
  const isInProfile = byRules.isVisible && isSeen(asked, principal, { config: file.config, profile: options.profile });
  // What no rule hides, the profile may.
  const explanation: Explanation =
    isInProfile || !byRules.isVisible
      ? byRules
      : { ...byRules, effect: "deny", isVisible: false, decidedBy: undefined, sent: undefined };
  return { asked, explanation, file };
}

interface Shown {
  readonly config: Config;
  /** Undefined: at the main endpoint. */
  readonly profile: string | undefined;
}

/** Whether the principal's profiles, or the one that is asked about, show the tool. */
function isSeen({ serverId, name, row }: Asked, principal: Principal, { config, profile }: Shown): boolean {
  if (profile !== undefined && !Object.hasOwn(config.profiles, profile))
    throw new UsageError(`the config has no profile "${profile}"`);
  const endpoint = profile === undefined ? "" : endpointFor("p", profile);
  const place = new Access(new LiveConfig(config)).placeOf(endpoint, principal);
  if (!place?.visibility) return place !== undefined;
  const definition = { annotations: row?.annotations };
  return place.visibility.showsServer(serverId) && place.visibility.shows({ kind: "tool", serverId, name, definition });
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function findTool(written: string, config: Config, rows: readonly ToolRow[]): Asked {
  const found = rows.filter(({ name, originalName, serverId }) =>
    [name, `${serverId}/${originalName}`, `${serverId}_${originalName}`].includes(written),
  );
  const rowsOfName = found.length > 0 ? found : rows.filter(({ originalName }) => originalName === written);
  if (rowsOfName.length > 1) {
    const names = rowsOfName.map(({ serverId, originalName }) => `${serverId}/${originalName}`);
    throw new UsageError(`"${written}" can be ${names.join(" or ")}`);
  }
  const [row] = rowsOfName;
  if (row) return { serverId: row.serverId, name: row.originalName, row };
  return { ...ownerByConfig(written, config), row: undefined };
}

/** Empty if no gateway can be asked: the config alone has an answer, too. */
async function listedTools({ url, token, config }: ExplainOptions): Promise<readonly ToolRow[]> {
  // With --config, the running gateway may be another one.
  if (config !== undefined && url === undefined) return [];
  try {
    return await withTarget({ url, token }, async (target) => (await target.request(adminRoutes.listTools)).items);
  } catch (error) {
    if (url !== undefined) throw error;
    return [];
  }
}

function inJson(asked: Asked, { effect, isVisible, matched, decidedBy, refusal, sent }: Explanation, file: PolicyFile) {
  return {
    server: asked.serverId,
    tool: asked.name,
    exposed: asked.row?.name ?? null,
    known: asked.row !== undefined,
    effect,
    visible: isVisible,
    decidedBy: decidedBy?.name ?? null,
    refusal: refusal ?? null,
    arguments: sent === undefined ? null : (JSON.parse(sent) as unknown),
    rules: matched.map(({ rule, holds, problem }) => ({
      id: rule.name,
      effect: rule.effect,
      at: file.placeOf(rule),
      when: rule.condition?.source ?? null,
      holds: holds ?? null,
      problem: problem ?? null,
    })),
  };
}

function* linesOf(asked: Asked, explanation: Explanation, file: PolicyFile): Generator<string> {
  const { effect, isVisible, matched, decidedBy, refusal, sent } = explanation;
  yield `tool     ${asked.name} of ${asked.serverId}${asked.row ? `, listed as ${asked.row.name}` : ""}`;
  if (!asked.row) yield "         not in a running gateway's catalog: its annotations count as missing";
  yield `seen     ${isVisible ? "yes" : "no: it does not exist for this principal"}`;
  const isByProfile = !isVisible && decidedBy === undefined && matched.every(({ rule }) => rule.effect !== "deny");
  const otherwise = isByProfile ? "policy.default or a profile" : "policy.default";
  yield `effect   ${effect}, by ${decidedBy ? `${decidedBy.name} at ${file.placeOf(decidedBy)}` : otherwise}`;
  if (refusal !== undefined) yield `says     ${refusal}`;
  if (effect !== "deny" && sent !== undefined && sent !== "{}") yield `sends    ${sent}`;
  for (const each of matched) yield `rule     ${ruleInWords(each, file)}`;
}

function ruleInWords({ rule, holds, problem }: MatchedRule, file: PolicyFile): string {
  const base = `${rule.effect} ${rule.name} at ${file.placeOf(rule)}`;
  if (!rule.condition) return base;
  const outcome = problem ?? (holds ? "holds" : "does not hold");
  return `${base}, when ${rule.condition.source}: ${outcome}`;
}

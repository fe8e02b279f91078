/**
 * Explains one thing of the catalog for one principal: whose it is, whether it is listed and why,
 * what the rules say, and what became of its calls.
 *
 * Invariant: it only asks. The rules and profiles are those in use, which the file may not say any
 * more.
 */
import type { Config } from "../../../config/schema/config.ts";
import type { ServerConfig } from "../../../config/schema/server.ts";
import { describeRules, type ResultRules } from "../../../mcp/protocol/results/result-rules.ts";
import { askedPrincipal } from "../../../policy/asked-principal.ts";
import { explain as explainItem } from "../../../policy/explain.ts";
import type { ApiRows } from "../api-rows.ts";
import type { AdminParts } from "../parts.ts";
import { type LineOf, linesIn } from "./config-lines.ts";
import { type FoundEntry, findEntry } from "./find-entry.ts";
import type { ExplainRequest, ExplainResult } from "./schema.ts";
import { itemOf, SeenBy } from "./seen.ts";

const LAST_ERRORS = 5;

export async function explain(request: ExplainRequest, parts: AdminParts, rows: ApiRows): Promise<ExplainResult> {
  const { config, servers, configPath, activity, logs } = parts;
  const { current } = config;
  const by = new SeenBy(askedPrincipal({ ...request, principal: request.as }), request.profile, parts);
  const entry = findEntry(request.name, rows, current);
  const { kind, name, originalName, serverId, tokens = null, calls = 0, errors = 0 } = entry;
  const lineOf = await linesIn(configPath);
  const byRules = explainItem(by.policy, {
    principal: by.principal,
    item: itemOf(entry),
    args: request.arguments && JSON.stringify(request.arguments),
    schema: entry.inputSchema,
  });
  const seen = by.see(entry, byRules);
  const { effect, decidedBy, refusal, matched, sent } = byRules;
  const isAllowed = effect !== "deny" && seen.isVisible;
  const ofServer = servers.config(serverId);
  const status = servers.status(serverId);
  return {
    kind,
    name,
    originalName,
    serverId,
    listed: seen.isListed,
    why: seen.why,
    visible: seen.isVisible,
    effect: isAllowed ? effect : "deny",
    decidedBy: decidedBy && (isAllowed || effect === "deny") ? decidedBy.name : null,
    refusal: refusal ?? null,
    arguments: isAllowed && sent !== undefined ? (JSON.parse(sent) as unknown) : null,
    config: configPath ?? null,
    rules: matched.map(({ rule, holds, problem }) => ({
      id: rule.name,
      effect: rule.effect,
      line: lineOf(["policy", "rules", rule.index]),
      when: rule.condition?.source ?? null,
      holds: holds ?? null,
      problem: problem ?? null,
    })),
    timeout: timeoutOf(entry, { ofServer, current, lineOf }),
    results: kind === "tool" ? describeRules(rulesOf(entry, ofServer)) : null,
    state: status?.state ?? "down",
    reason: status?.reason === undefined ? null : logs.masker.text(status.reason),
    breaker: servers.roster.get(serverId)?.backend.breaker ?? { open: false, failures: 0, retryInMs: 0 },
    calls,
    errors,
    tokens,
    lastErrors: activity
      .calls()
      .filter((call) => call.serverId === serverId && call.name === name && call.outcome !== "ok")
      .slice(-LAST_ERRORS)
      .map(({ time, code, outcome, requestId }) => ({ time, code: code ?? outcome, requestId })),
  };
}

function rulesOf({ originalName }: FoundEntry, ofServer: ServerConfig | undefined): ResultRules | undefined {
  const override = ofServer?.tools.overrides[originalName];
  return override ? override.results : ofServer?.tools.results;
}

interface TimeoutSource {
  readonly ofServer: ServerConfig | undefined;
  readonly current: Config;
  readonly lineOf: LineOf;
}

function timeoutOf({ kind, serverId, originalName }: FoundEntry, { ofServer, current, lineOf }: TimeoutSource) {
  const { callMs, maxCallMs: maxMs } = current.timeouts;
  const own = ["mcpServers", serverId];
  const override = kind === "tool" ? ofServer?.tools.overrides[originalName] : undefined;
  const places: readonly (readonly [ms: number | undefined, path: readonly string[]])[] = [
    [override?.timeoutMs, [...own, "tools", "overrides", originalName, "timeoutMs"]],
    [ofServer?.timeoutMs, [...own, "timeoutMs"]],
    [callMs, ["timeouts", "callMs"]],
  ];
  const [ms, path] = places.find(([given]) => given !== undefined)!;
  return { ms: ms!, from: path.join("."), line: lineOf(path), maxMs };
}

/**
 * Explains one thing of the catalog for one principal: whose it is, whether it is listed and why,
 * what the rules say, and what became of its calls.
 *
 * Invariant: it only asks. The rules and profiles are those in use, which the file may not say any
 * more.
 */
import { endpointFor } from "../../access/endpoints.ts";
import type { Config } from "../../config/schema/config.ts";
import type { ServerConfig } from "../../config/schema/server.ts";
import { askedPrincipal } from "../../policy/asked-principal.ts";
import { type Explanation as ByRules, explain as explainItem } from "../../policy/explain.ts";
import { createPolicy } from "../../policy/policy.ts";
import type { Principal, Visibility } from "../../protocol/principal.ts";
import { apiFailure } from "../failure.ts";
import type { AdminParts } from "../parts.ts";
import type { Views } from "../views.ts";
import { type LineOf, linesIn } from "./config-lines.ts";
import { type Found, findEntry } from "./find-entry.ts";
import type { ExplainRequest, Explanation } from "./schema.ts";

const LAST_ERRORS = 5;

export async function explain(request: ExplainRequest, parts: AdminParts, views: Views): Promise<Explanation> {
  const { config, servers, configPath, activity, logs } = parts;
  const { current } = config;
  const { profile } = request;
  if (profile !== undefined && !Object.hasOwn(current.profiles, profile))
    throw apiFailure("INVALID_PARAMS", `The config has no profile "${profile}"`);
  const entry = findEntry(request.name, views, current);
  const { kind, name, originalName, serverId, tokens = null, calls = 0, errors = 0 } = entry;
  const principal = askedPrincipal({ ...request, principal: request.as });
  const lineOf = await linesIn(configPath);
  const byRules = rulesAbout(entry, principal, { config: current, args: request.arguments });
  const seen = seenBy(entry, { principal, profile, byRules, parts });
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
    state: status?.state ?? "down",
    reason: status?.reason === undefined ? null : logs.masker.text(status.reason),
    breaker: servers.backend(serverId)?.breaker ?? { open: false, failures: 0, retryInMs: 0 },
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

interface Ruled {
  readonly config: Config;
  readonly args: ExplainRequest["arguments"];
}

function rulesAbout({ kind, ...entry }: Found, principal: Principal, { config, args }: Ruled): ByRules {
  const policy = createPolicy(
    config.policy,
    config.servers.map(({ id }) => id),
  );
  return explainItem(policy, {
    principal,
    item: {
      kind: kind === "template" ? "resource" : kind,
      serverId: entry.serverId,
      name: entry.originalName,
      annotations: entry.annotations,
    },
    args: args && JSON.stringify(args),
    schema: entry.inputSchema,
  });
}

interface Asked {
  readonly principal: Principal;
  readonly profile: string | undefined;
  readonly byRules: ByRules;
  readonly parts: AdminParts;
}

interface Seen {
  readonly isVisible: boolean;
  readonly isListed: boolean;
  readonly why: string;
}

function seenBy(entry: Found, { principal, profile, byRules, parts }: Asked): Seen {
  const { access, catalog, config } = parts;
  const hidden = (why: string): Seen => ({ isVisible: false, isListed: false, why });
  if (!byRules.isVisible) {
    const rule = byRules.decidedBy;
    return hidden(rule ? `the rule ${rule.name} hides it` : "policy.default is deny, and no rule allows it");
  }
  const place = access.placeOf(profile === undefined ? "" : endpointFor("p", profile), principal);
  const whose = profile === undefined ? "the profiles of the principal do" : `the profile "${profile}" does`;
  if (!place) return hidden(`the endpoint does not exist for this principal: ${whose} not allow it`);
  if (place.visibility && !isShown(entry, place.visibility)) return hidden(`${whose} not show it`);
  const shown: Seen = { isVisible: true, isListed: true, why: "nothing hides it" };
  if (entry.kind !== "tool") return shown;
  const view = catalog.view({ key: "", principal: principal.id, visibility: place.visibility });
  const own = view.tools.entries.find(
    ({ serverId, name }) => serverId === entry.serverId && name === entry.originalName,
  );
  if (own && view.exposure.isListed(own)) return shown;
  const { expose } = config.current.tools;
  const ofServer = parts.servers.config(entry.serverId)?.expose;
  const by =
    ofServer !== undefined
      ? `mcpServers.${entry.serverId}.expose`
      : place.visibility?.expose !== undefined
        ? `the profile's "expose"`
        : `tools.expose is "${expose}"`;
  return { isVisible: true, isListed: false, why: `clients find it by search: ${by}` };
}

function isShown({ kind, serverId, originalName, annotations }: Found, visibility: Visibility): boolean {
  const definition = { annotations };
  return visibility.showsServer(serverId) && visibility.shows({ kind, serverId, name: originalName, definition });
}

interface TimeoutSource {
  readonly ofServer: ServerConfig | undefined;
  readonly current: Config;
  readonly lineOf: LineOf;
}

function timeoutOf({ kind, serverId, originalName }: Found, { ofServer, current, lineOf }: TimeoutSource) {
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

/**
 * Who may use what, as the config in use says it: profiles, rules and named clients, each with its
 * line in the file.
 *
 * Invariant: no token, hash or secret leaves here; rules are shown as the config is.
 */
import { endpointFor } from "../../../auth/access/endpoints.ts";
import type { Config } from "../../../config/schema/config.ts";
import { each, inSlices } from "../../../lib/timing/slices.ts";
import { masked } from "../../../observe/telemetry/audit-mask.ts";
import { ruleName } from "../../../policy/rule.ts";
import { type LineOf, linesIn } from "../explain/config-lines.ts";
import { shownValue } from "../page/shown-config.ts";
import type { AdminParts } from "../parts.ts";
import type { AccessState, ProfileRow, RuleRow } from "./schema.ts";

/** Finding a line reads the file's text up to it. */
const LINE_COST = 200;

export async function accessState(parts: AdminParts): Promise<AccessState> {
  const { config, configPath, logs, pairing } = parts;
  const { current } = config;
  const { auth, admin } = current.gateway;
  const lineOf = await linesIn(configPath);
  const mask = (text: string): string => logs.masker.text(String(masked(text)));
  const rules: RuleRow[] = [];
  const add = (rule: Config["policy"]["rules"][number], index: number): void => {
    const shown = shownValue(rule, mask) as Record<string, unknown>;
    const line = lineOf(["policy", "rules", index]);
    rules.push({ id: ruleName(rule, index), effect: rule.effect, line, rule: shown });
  };
  await inSlices(each(current.policy.rules, add, () => LINE_COST));
  const clients = Object.entries(auth.clients).map(([name, { profile, admin: isAdmin }]) => {
    return { name, profiles: profile === undefined ? null : [profile].flat(), admin: isAdmin };
  });
  const isPaired = pairing?.issuer !== undefined;
  return {
    config: configPath ?? null,
    default: current.policy.default,
    rules,
    profiles: Object.keys(current.profiles).map((name) => profileRow(name, current, lineOf)),
    clients,
    issuers: auth.oauth?.issuers.map(({ issuer }) => issuer) ?? [],
    tokens: auth.tokens.length + admin.tokens.length + clients.length > 0 || auth.oauth !== undefined || isPaired,
    pairing: isPaired,
  };
}

function profileRow(name: string, { profiles, gateway: { auth } }: Config, lineOf: LineOf): ProfileRow {
  const { servers, tools, prompts, resources, expose = null } = profiles[name]!;
  const { scopes = [], groups = [] } = auth.oauth?.profiles[name] ?? {};
  const tied = Object.entries(auth.clients).filter(([, { profile }]) => [profile].flat().includes(name));
  return {
    name,
    endpoint: `/mcp${endpointFor("p", name)}`,
    line: lineOf(["profiles", name]),
    servers,
    tools,
    prompts,
    resources,
    expose,
    clients: tied.map(([client]) => client),
    scopes,
    groups,
  };
}

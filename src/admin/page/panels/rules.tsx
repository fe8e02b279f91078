/** The profiles and the rules in use, each with its place in the config file. */
import type { AccessState, ProfileRow, RuleRow } from "../../api/access/schema.ts";
import { plural, visible } from "../format.ts";
import { Copy, Empty, Section } from "../parts/small.tsx";
import { href } from "../router.ts";
import { Effect } from "./seen.tsx";

const MAX_ROWS = 200;

export function Profiles({ access: { profiles, config } }: { access: AccessState }) {
  return (
    <Section title={plural(profiles.length, "profile")}>
      {profiles.length === 0 ? (
        <Empty title="No profiles">A profile shows a part of everything, at an address of its own.</Empty>
      ) : (
        <ul class="rows">
          {profiles.map((profile) => (
            <li key={profile.name} class="profile">
              <strong>{profile.name}</strong>
              <span>
                <code>{profile.endpoint}</code> <Copy text={new URL(profile.endpoint, location.origin).href} />
              </span>
              <span class="tags">
                {shownBy(profile).map((text) => (
                  <span class="tag" key={text}>
                    {visible(text)}
                  </span>
                ))}
              </span>
              <span class="profile-side">
                <a href={href(["access"], { try: "1", profile: profile.name })}>Try it</a>
                <Place line={profile.line} file={config} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

export function Rules({ access: { rules, config, default: fallback } }: { access: AccessState }) {
  return (
    <Section
      title={plural(rules.length, "rule")}
      extra={
        <span class="muted">
          otherwise <Effect effect={fallback} />
        </span>
      }
    >
      {rules.length === 0 ? (
        <Empty title="No rules">
          {fallback === "allow" ? "What no profile hides is allowed." : "So nobody may use anything."}
        </Empty>
      ) : (
        <ul class="rows">
          {rules.slice(0, MAX_ROWS).map((row) => (
            <li key={row.id} class="rule">
              <Effect effect={row.effect} />
              <span>
                <strong>{visible(row.id)}</strong> <span class="rule-text">{visible(ruleText(row))}</span>
              </span>
              <Place line={row.line} file={config} />
            </li>
          ))}
        </ul>
      )}
      {rules.length > MAX_ROWS && (
        <p class="muted">
          The first {MAX_ROWS} of {rules.length} are shown.
        </p>
      )}
    </Section>
  );
}

function Place({ line, file }: { line: number | null; file: string | null }) {
  if (line === null || file === null) return null;
  return (
    <span class="cell-side" title={file}>
      {file.split(/[\\/]/).at(-1)}:{line}
    </span>
  );
}

function shownBy({ servers, tools, prompts, resources, expose, clients, scopes, groups }: ProfileRow): string[] {
  const patterns = (what: string, { allow, deny }: ProfileRow["tools"]): string[] => [
    ...(allow.join() === "*" ? [] : [`${what} ${allow.join(", ") || "none"}`]),
    ...(deny.length === 0 ? [] : [`no ${what} ${deny.join(", ")}`]),
  ];
  return [
    servers.join() === "*" ? "all servers" : `servers ${servers.join(", ")}`,
    ...patterns("tools", tools),
    ...patterns("prompts", prompts),
    ...patterns("resources", resources),
    ...(expose === null ? [] : [`lists ${expose}`]),
    ...clients.map((name) => `token ${name}`),
    ...scopes.map((name) => `scope ${name}`),
    ...groups.map((name) => `group ${name}`),
  ];
}

/** A rule in words, from what the config says. */
function ruleText({ rule }: RuleRow): string {
  const lists = (value: unknown, names: readonly string[]): string[] =>
    names.flatMap((name) => {
      const given = (value as Record<string, unknown>)[name];
      if (given === undefined) return [];
      return `${name} ${[given].flat().join(", ")}`;
    });
  const { who, when, set, hide, reason } = rule as { who?: { not?: unknown } } & Record<string, unknown>;
  const parts = [
    ...lists(rule, ["server", "tools", "prompts", "resources"]),
    who ? `for ${lists(who, WHO).join(" and ") || "everybody"}` : "",
    who?.not ? `but not ${lists(who.not, WHO).join(" and ")}` : "",
    typeof when === "string" ? `when ${when}` : "",
    set === undefined ? "" : `sets ${JSON.stringify(set)}`,
    hide === undefined ? "" : `hides ${String(hide)}`,
    typeof reason === "string" ? `“${reason}”` : "",
  ].filter(Boolean);
  return parts.join(" · ") || "everything";
}

const WHO = ["principals", "groups", "clients", "scopes"] as const;

/**
 * Checks the names in profiles and the names of profiles: a name that leads nowhere would show
 * less, or admit nobody, without a word.
 */
import { nearestWord } from "../../lib/text/nearest/nearest-word.ts";
import type { KeyPath } from "../problems/locate.ts";
import type { Report } from "../problems/report.ts";
import type { ConfigFile } from "../schema/config.ts";
import type { ServerConfig } from "../schema/server.ts";

export function checkProfiles(file: ConfigFile, servers: readonly ServerConfig[], report: Report): void {
  const { profiles, gateway } = file;
  const ids = servers.map(({ id }) => id);
  const assertServer = (pattern: string, path: KeyPath): void => {
    if (/[*?]/.test(pattern) || ids.includes(pattern)) return;
    report.error(path, `no server has the id "${pattern}"`, { hint: meant(pattern, ids), ofFile: true });
  };
  for (const [name, profile] of Object.entries(profiles)) {
    for (const [i, pattern] of profile.servers.entries()) assertServer(pattern, ["profiles", name, "servers", i]);
    for (const kind of ["tools", "prompts"] as const) {
      for (const list of ["allow", "deny"] as const) {
        for (const [i, pattern] of profile[kind][list].entries()) {
          if (pattern.includes("/")) assertServer(serverIn(pattern, ids), ["profiles", name, kind, list, i]);
        }
      }
    }
  }
  const assertProfile = (name: string, path: KeyPath): void => {
    if (Object.hasOwn(profiles, name)) return;
    report.error(path, `there is no profile "${name}"`, { hint: meant(name, Object.keys(profiles)), ofFile: true });
  };
  for (const [client, { profile }] of Object.entries(gateway.auth.clients)) {
    const path = ["gateway", "auth", "clients", client, "profile"];
    if (typeof profile === "string") assertProfile(profile, path);
    else for (const [i, name] of (profile ?? []).entries()) assertProfile(name, [...path, i]);
  }
  for (const name of Object.keys(gateway.auth.oauth?.profiles ?? {})) {
    assertProfile(name, ["gateway", "auth", "oauth", "profiles", name]);
  }
}

/** An id may contain a slash, too. */
function serverIn(pattern: string, ids: readonly string[]): string {
  const known = ids.find((id) => pattern.startsWith(`${id}/`));
  return known ?? pattern.slice(0, pattern.indexOf("/"));
}

function meant(name: string, known: readonly string[]): string | undefined {
  const near = nearestWord(name, known);
  if (near !== undefined) return `did you mean "${near}"?`;
  return known.length > 0 && known.length <= 10 ? `there are: ${known.join(", ")}` : undefined;
}

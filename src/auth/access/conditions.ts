/**
 * Conditions on what a client sees, and the visibility that they make together. An entry is shown
 * if all conditions allow it.
 */
import { createHash } from "node:crypto";
import type { Config } from "../../config/schema/config.ts";
import type { ProfileConfig } from "../../config/schema/profiles.ts";
import { matchesGlob } from "../../lib/text/glob.ts";
import type { Visibility, VisibleEntry } from "../../mcp/protocol/principal.ts";
import { namesAllowed, urisAllowed } from "./patterns.ts";

export interface Condition {
  /** Two conditions with the same key are the same. */
  readonly key: string;
  showsServer(serverId: string): boolean;
  /** Only asked if the server is shown. */
  shows(entry: VisibleEntry): boolean;
}

/** An entry must be in one of these profiles. */
export function inProfiles(profiles: readonly ProfileConfig[]): Condition {
  const all = profiles.map(({ servers, tools, prompts, resources }) => {
    const isResource = urisAllowed(resources);
    const allowed = {
      tool: namesAllowed(tools),
      prompt: namesAllowed(prompts),
      resource: isResource,
      template: isResource,
    };
    const sees = (serverId: string): boolean => servers.some((pattern) => matchesGlob(pattern, serverId));
    return { sees, shows: (entry: VisibleEntry): boolean => allowed[entry.kind](entry) };
  });
  return {
    key: JSON.stringify(profiles),
    showsServer: (serverId) => all.some(({ sees }) => sees(serverId)),
    shows: (entry) => all.some(({ sees, shows }) => sees(entry.serverId) && shows(entry)),
  };
}

/** Switches off the servers that a profile does not show. Their names stay theirs. */
export function withServersOf(profile: string, config: Config): Config {
  const wanted = config.profiles[profile];
  const condition = inProfiles(wanted ? [wanted] : []);
  const servers = config.servers.map((server) =>
    condition.showsServer(server.id) ? server : { ...server, enabled: false },
  );
  return { ...config, servers };
}

export interface VisibilityOptions
  extends Pick<Visibility, "profile" | "server" | "expose" | "shape" | "admit" | "asks" | "mayAsk"> {
  readonly conditions: readonly Condition[];
}

export function visibilityOf(options: VisibilityOptions): Visibility {
  const { conditions, profile, server, expose, shape, admit, asks, mayAsk } = options;
  const parts = JSON.stringify([server, expose, ...conditions.map(({ key }) => key)]);
  return {
    key: createHash("sha256").update(parts).digest("base64url"),
    profile,
    server,
    expose,
    showsServer: (serverId) =>
      (server === undefined || serverId === server) && conditions.every((condition) => condition.showsServer(serverId)),
    shows: (entry) => conditions.every((condition) => condition.shows(entry)),
    shape,
    admit,
    asks,
    mayAsk,
  };
}

/** The servers of the config that may have a login. */

import type { LoginTarget } from "../../../auth/login/discovery.ts";
import { Secrets } from "../../../auth/secrets/secrets.ts";
import type { Config } from "../../../config/schema/config.ts";
import { UsageError } from "../usage-error.ts";

export function loginTargets(config: Config): LoginTarget[] {
  const secrets = new Secrets({ config: { current: config }, hide: () => {} });
  return config.servers.flatMap((server) => {
    const { id, transport, auth, enabled } = server;
    if (!auth || !enabled || transport.kind === "stdio") return [];
    return { id, url: transport.url, auth, completeAuth: async () => secrets.of(server)?.auth() };
  });
}

/** Returns those with these ids. Throws if one has no login. */
export function namedTargets(ids: readonly string[], config: Config): LoginTarget[] {
  const targets = loginTargets(config);
  return ids.map((id) => {
    const found = targets.find((target) => target.id === id);
    if (found) return found;
    const known = targets.map((target) => target.id).join(", ") || "none";
    const server = config.servers.find((one) => one.id === id);
    if (!server) throw new UsageError(`the config has no server "${id}"; those with a login: ${known}`);
    throw new UsageError(
      `server "${id}" has no login: it is switched off, a program, or has a key in its headers; those with one: ${known}`,
    );
  });
}

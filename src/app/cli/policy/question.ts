/**
 * What `goblin explain` and `goblin policy test` share: the config with the lines of its rules, the
 * principal that is asked about, and the owner of a tool by the config alone.
 */
import { resolve } from "node:path";
import { findConfig, isFound } from "../../../config/reading/find.ts";
import { loadConfig, readConfigText } from "../../../config/reading/load.ts";
import { ruleLines } from "../../../config/reading/rule-places.ts";
import type { Config } from "../../../config/schema/config.ts";
import { createPolicy, type Policy, type Rule } from "../../../policy/policy.ts";
import { namedConfig } from "../environment.ts";
import { UsageError } from "../usage-error.ts";

export interface PolicyFile {
  readonly path: string;
  readonly config: Config;
  /** Returns `goblin.json:12` for a rule. */
  placeOf(rule: Rule): string;
}

/** Reads the config; nothing of it is started. @throws ConfigError */
export async function readPolicyFile(option: string | undefined): Promise<PolicyFile> {
  const named = namedConfig(option, process.env);
  const path = named === undefined ? findConfig(process.cwd(), process.env) : resolve(named);
  if (path === undefined) throw new UsageError("there is no config here: name one with --config");
  const found = named === undefined && isFound(path, process.cwd(), process.env);
  const { config } = await loadConfig(path, process.env, { found }).catch((error: unknown) =>
    // Rules can be judged without the tokens and keys of the config's variables.
    loadConfig(path, placeholders, { found }).catch(() => {
      throw error;
    }),
  );
  const lineOf = ruleLines((await readConfigText(path)).text);
  return { path, config, placeOf: ({ index }) => `${path}:${lineOf(index)}` };
}

/** Has every variable. */
const placeholders: Readonly<Record<string, string>> = new Proxy<Record<string, string>>(
  {},
  {
    get: (_env, name) => process.env[String(name)] || "placeholder",
    getOwnPropertyDescriptor: (_env, name) => {
      return { value: process.env[String(name)] || "placeholder", configurable: true, enumerable: true };
    },
  },
);

export function policyOf({ policy, servers }: Config): Policy | undefined {
  return createPolicy(
    policy,
    servers.map(({ id }) => id),
  );
}

/** Splits `server/name` or `server_name`. @throws UsageError if that names no server, or several */
export function ownerByConfig(written: string, config: Config): { serverId: string; name: string } {
  const slash = written.indexOf("/");
  const before = written.slice(0, slash);
  if (slash !== -1 && config.servers.some(({ id }) => id === before))
    return { serverId: before, name: written.slice(slash + 1) };
  const owners = config.servers.map(({ id }) => id).filter((id) => written.startsWith(`${id}_`));
  if (owners.length > 1) throw new UsageError(`"${written}" can be a tool of ${owners.join(" or ")}: name the server`);
  const [serverId] = owners;
  if (serverId === undefined) throw new UsageError(`"${written}" begins with the id of no server of the config`);
  return { serverId, name: written.slice(serverId.length + 1) };
}

/**
 * Chooses a command's config: the named file (`--config`, `GOBLIN_CONFIG`), else the one found,
 * else the demo servers. A file found in the current folder takes effect only if its digest is
 * trusted.
 */
import { resolve } from "node:path";
import { formatWarning } from "../../config/problems/problem.ts";
import { findConfig, isFound } from "../../config/reading/find.ts";
import { type ConfigText, type LoadedConfig, loadConfig } from "../../config/reading/load.ts";
import { parseConfig } from "../../config/reading/parse.ts";
import type { Config } from "../../config/schema/config.ts";
import { META_TOOL_NAMES } from "../../config/schema/offerings.ts";
import { clean } from "../../lib/text/clean.ts";
import { demoServers } from "../demo/index.ts";
import { type Address, namedAddress, namedConfig } from "./environment.ts";
import { requireTrust } from "./trust/consent.ts";

export interface ChosenConfig {
  readonly config: Config;
  /** Undefined for the demo. */
  readonly file: LoadedConfig | undefined;
  /** The file was found in the current folder, so each new version needs consent. */
  readonly found: boolean;
}

export interface ChooseOptions extends Address {
  readonly config?: string | undefined;
}

/**
 * Loads the config. `permit` decides about a found file and may ask the user. `isQuiet`: another
 * process prints the warnings. @throws ConfigError
 */
export async function chooseConfig(
  options: ChooseOptions,
  permit: (file: ConfigText) => Promise<void> = requireTrust,
  { isQuiet = false }: { readonly isQuiet?: boolean } = {},
): Promise<ChosenConfig> {
  const named = namedConfig(options.config, process.env);
  const path = named === undefined ? findConfig(process.cwd(), process.env) : resolve(named);
  const found = named === undefined && path !== undefined && isFound(path, process.cwd(), process.env);
  const file = path === undefined ? undefined : await loadConfig(path, process.env, found ? { found, permit } : {});
  for (const warning of isQuiet ? [] : (file?.warnings ?? [])) console.error(clean(formatWarning(warning)));
  const config = file?.config ?? demoConfig();
  return { file, found, config: withAddress(config, options) };
}

/** Applies the address from the command line or the environment, which overrides the file. */
export function withAddress(config: Config, options: ChooseOptions): Config {
  const { host, port } = namedAddress(options, process.env);
  const gateway = { ...config.gateway, ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
  return { ...config, gateway };
}

function demoConfig(): Config {
  const mcpServers = Object.fromEntries(demoServers().map(({ id, command, args }) => [id, { command, args }]));
  return parseConfig(JSON.stringify({ mcpServers, metaTools: { enabled: META_TOOL_NAMES } }), { file: "demo", env: {} })
    .config;
}

/**
 * Chooses a command's config: the named file, else the one found, else the demo servers. A file
 * found in the current folder takes effect only if its digest is trusted.
 */
import { resolve } from "node:path";
import { formatWarning } from "../config/problems/problem.ts";
import { findConfig, isFound } from "../config/reading/find.ts";
import { type ConfigText, type LoadedConfig, loadConfig } from "../config/reading/load.ts";
import { parseConfig } from "../config/reading/parse.ts";
import type { Config } from "../config/schema/config.ts";
import { demoServers } from "../demo/index.ts";
import { clean } from "../text/clean.ts";
import { requireTrust } from "./trust/consent.ts";

export interface ChosenConfig {
  readonly config: Config;
  /** Undefined for the demo. */
  readonly file: LoadedConfig | undefined;
  /** The file was found in the current folder, so each new version needs consent. */
  readonly found: boolean;
}

export interface ChooseOptions {
  readonly config?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/**
 * Loads the config. `permit` decides about a found file and may ask the user. @throws ConfigError
 */
export async function chooseConfig(
  options: ChooseOptions,
  permit: (file: ConfigText) => Promise<void> = requireTrust,
): Promise<ChosenConfig> {
  const path = options.config === undefined ? findConfig(process.cwd(), process.env) : resolve(options.config);
  const found = options.config === undefined && path !== undefined && isFound(path, process.cwd(), process.env);
  const file = path === undefined ? undefined : await loadConfig(path, process.env, found ? { found, permit } : {});
  for (const warning of file?.warnings ?? []) console.error(clean(formatWarning(warning)));
  const config = file?.config ?? demoConfig();
  return { file, found, config: withAddress(config, options) };
}

/** Applies the address from the command line, which overrides the file. */
export function withAddress(config: Config, { host, port }: ChooseOptions): Config {
  const gateway = { ...config.gateway, ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
  return { ...config, gateway };
}

function demoConfig(): Config {
  const mcpServers = Object.fromEntries(demoServers().map(({ id, command, args }) => [id, { command, args }]));
  return parseConfig(JSON.stringify({ mcpServers }), { file: "demo", env: {} }).config;
}

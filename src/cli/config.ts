/**
 * The config that a command works with: the file that was named, the one that is found, or the demo
 * servers when there is none.
 */
import { resolve } from "node:path";
import { formatWarning } from "../config/problems/problem.ts";
import { findConfig } from "../config/reading/find.ts";
import { type LoadedConfig, loadConfig } from "../config/reading/load.ts";
import { parseConfig } from "../config/reading/parse.ts";
import type { Config } from "../config/schema/config.ts";
import { demoServers } from "../demo/index.ts";

export interface ChosenConfig {
  readonly config: Config;
  /** Undefined: the demo. */
  readonly file: LoadedConfig | undefined;
}

export interface ChooseOptions {
  readonly config?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/** @throws ConfigError */
export async function chooseConfig(options: ChooseOptions, warn: (line: string) => void): Promise<ChosenConfig> {
  const path = options.config === undefined ? findConfig(process.cwd(), process.env) : resolve(options.config);
  const file = path === undefined ? undefined : await loadConfig(path);
  for (const warning of file?.warnings ?? []) warn(formatWarning(warning));
  const config = file?.config ?? demoConfig();
  return { file, config: withAddress(config, options) };
}

/** What was said on the command line counts, whatever the file says. */
export function withAddress(config: Config, { host, port }: ChooseOptions): Config {
  const gateway = { ...config.gateway, ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
  return { ...config, gateway };
}

function demoConfig(): Config {
  const mcpServers = Object.fromEntries(demoServers().map(({ id, command, args }) => [id, { command, args }]));
  return parseConfig(JSON.stringify({ mcpServers }), { file: "demo", env: {} }).config;
}

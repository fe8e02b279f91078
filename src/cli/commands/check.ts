/**
 * `goblin check`: says whether a config is valid, and if not, where and why.
 *
 * Exit code 0 for a valid config, warnings or not; 1 for anything else. It starts nothing and
 * writes nothing.
 */
import { isAbsolute, relative, resolve } from "node:path";
import { ConfigError, formatProblem, formatWarning, type Problem } from "../../config/problems/problem.ts";
import { configPlaces, findConfig } from "../../config/reading/find.ts";
import { loadConfig } from "../../config/reading/load.ts";

export interface CheckOptions {
  /** The file to check; without it, the one that `serve` would find. */
  readonly config?: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Each takes whole lines, with their line break. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export async function check(options: CheckOptions): Promise<0 | 1> {
  const { cwd, env, out, err } = options;
  const path = options.config === undefined ? findConfig(cwd, env) : resolve(cwd, options.config);
  if (path === undefined) {
    err(
      `no config found; looked for:\n${configPlaces(cwd, env)
        .map((place) => `  ${place}\n`)
        .join("")}`,
    );
    return 1;
  }
  const shown = displayPath(path, cwd);
  const show = (problem: Problem): Problem => ({ ...problem, file: shown });
  try {
    const { config, warnings } = await loadConfig(path, env);
    for (const warning of warnings) err(`${formatWarning(show(warning))}\n`);
    const disabled = config.servers.filter((server) => !server.enabled).length;
    const count = config.servers.length;
    out(
      `${shown}: OK, ${count} ${count === 1 ? "server" : "servers"}${disabled === 0 ? "" : ` (${disabled} disabled)`}\n`,
    );
    return 0;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems) err(`${formatProblem(show(problem))}\n`);
    return 1;
  }
}

/** Short where it is short: relative to the current folder for what lies in it. */
function displayPath(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === "" || short.startsWith("..") || isAbsolute(short) ? path : short;
}

/**
 * `goblin check`: validates a config and locates its problems.
 *
 * Exit code 0 for a valid config, even with warnings; 1 otherwise. It starts nothing and writes
 * nothing. With --json it prints one object with all findings on stdout.
 */
import { isAbsolute, relative, resolve } from "node:path";
import { ConfigError, formatProblem, formatWarning, type Problem } from "../../../config/problems/problem.ts";
import { configPlaces, findConfig, isFound } from "../../../config/reading/find.ts";
import { loadConfig } from "../../../config/reading/load.ts";
import { clean } from "../../../lib/text/clean.ts";
import { namedConfig } from "../environment.ts";
import { safeJson } from "../terminal/safe-json.ts";

export interface CheckOptions {
  /** The file to check; default: the one that `serve` would find. */
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `out` and `err` take complete lines, including the line break. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

interface Findings {
  readonly ok: boolean;
  /** The displayed path; null: no config found. */
  readonly file: string | null;
  readonly errors: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** The number of servers in a valid config. */
  readonly servers?: number;
  readonly disabled?: number;
}

export async function check(options: CheckOptions): Promise<0 | 1> {
  const { cwd, env, out, json } = options;
  const named = namedConfig(options.config, env);
  const path = named === undefined ? findConfig(cwd, env) : resolve(cwd, named);
  const findings = path === undefined ? noConfig : await examine(path, { ...options, config: named });
  if (json) out(`${safeJson(findings, 2)}\n`);
  else if (path === undefined) {
    const places = configPlaces(cwd, env).map((place) => `  ${clean(place)}\n`);
    options.err(`no config found; looked for:\n${places.join("")}`);
  } else print(findings, options);
  return findings.ok ? 0 : 1;
}

const noConfig: Findings = {
  ok: false,
  file: null,
  errors: [{ file: "", line: 0, column: 0, key: "", message: "no config found" }],
  warnings: [],
};

async function examine(path: string, { config: named, cwd, env }: CheckOptions): Promise<Findings> {
  const file = displayPath(path, cwd);
  const show = (problem: Problem): Problem => ({ ...problem, file });
  try {
    const found = named === undefined && isFound(path, cwd, env);
    const { config, problems, warnings } = await loadConfig(path, env, { found, probes: true });
    const findings = { file, errors: problems.map(show), warnings: warnings.map(show) };
    if (problems.length > 0) return { ok: false, ...findings };
    const disabled = config.servers.filter((server) => !server.enabled).length;
    return { ok: true, ...findings, servers: config.servers.length, disabled };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { ok: false, file, errors: error.problems.map(show), warnings: [] };
  }
}

function print({ ok, file, errors, warnings, servers, disabled }: Findings, { out, err }: CheckOptions): void {
  for (const warning of warnings) err(`${clean(formatWarning(warning))}\n`);
  for (const problem of errors) err(`${clean(formatProblem(problem))}\n`);
  if (!ok) return;
  const off = disabled === 0 ? "" : ` (${disabled} disabled)`;
  out(`${file}: OK, ${servers} ${servers === 1 ? "server" : "servers"}${off}\n`);
}

/** Returns a path relative to the current folder if the file lies in it. */
function displayPath(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === "" || short.startsWith("..") || isAbsolute(short) ? path : short;
}

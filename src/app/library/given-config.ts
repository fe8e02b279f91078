/**
 * The config that a program passes to its gateway: a loaded file, or an object with the same
 * content.
 *
 * Invariant: both are checked by the same rules and rejected with the same errors, also for a bad
 * entry of one server, because nobody may read the log of a program. Problems of an object have
 * keys but no line numbers.
 */
import { readFileSync } from "node:fs";
import { ConfigError } from "../../config/problems/problem.ts";
import { parseConfig } from "../../config/reading/parse.ts";
import type { Config } from "../../config/schema/config.ts";

/** The loaded configs, hidden from the program. */
const configs = new WeakMap<object, Config>();

/** Associates a loaded config with the object that the program holds. */
export function keep<Loaded extends object>(loaded: Loaded, config: Config): Loaded {
  configs.set(loaded, config);
  return loaded;
}

/** Returns the path of the file, if the config came from one. */
export function pathOf(given: object): string | undefined {
  return configs.has(given) && "path" in given ? String(given.path) : undefined;
}

/** @throws ConfigError */
export function configOf(given: object): Config {
  const loaded = configs.get(given);
  if (loaded) return loaded;
  try {
    const text = JSON.stringify(given) ?? "";
    const readFile = (path: string): string => readFileSync(path, "utf8");
    const parsed = parseConfig(text, { file: "config", env: process.env, cwd: process.cwd(), readFile });
    if (parsed.problems.length > 0) throw new ConfigError(parsed.problems);
    return parsed.config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.problems.map((problem) => ({ ...problem, line: 0, column: 0 })));
  }
}

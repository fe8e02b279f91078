/**
 * The config that a program gives to its gateway: read from a file, or an object as it would stand
 * in one. Both are checked by the same rules and refused with the same errors; an object has keys
 * but no lines to name.
 */
import { readFileSync } from "node:fs";
import { ConfigError } from "./config/problems/problem.ts";
import { parseConfig } from "./config/reading/parse.ts";
import type { Config } from "./config/schema/config.ts";

/** What was read, which is nobody's business but the gateway's. */
const configs = new WeakMap<object, Config>();

/** Remembers what was read from a file for the object that stands for it. */
export function keep<Loaded extends object>(loaded: Loaded, config: Config): Loaded {
  configs.set(loaded, config);
  return loaded;
}

/** The file that it came from. */
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
    return parseConfig(text, { file: "config", env: process.env, cwd: process.cwd(), readFile }).config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.problems.map((problem) => ({ ...problem, line: 0, column: 0 })));
  }
}

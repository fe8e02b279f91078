/**
 * Config cases as files: `golden/<case>/input.json`, then `expected.json`, `errors.txt` or, if only
 * entries of servers are bad, both, and `warnings.txt` if there are any. A section that
 * `expected.json` leaves out has its defaults.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { fixed } from "../../../src/config/fixed.ts";
import { ConfigError, formatProblem, formatWarning, type Problem } from "../../../src/config/problems/problem.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import type { Config } from "../../../src/config/schema/config.ts";
import { loadConditions } from "../../../src/policy/conditions/condition.ts";

const golden = new URL("golden/", import.meta.url);
const env = {
  HOME: "/home/ada",
  TOKEN: "t0ken",
  API_KEY: "k3y",
  GITHUB_PAT: "p4t",
  EMPTY: "",
  TRICKY: "${env:TOKEN}",
  TWO_LINES: "one\n",
  SECRET: "hunter2",
  PORT: "4000",
  RATE: "2.5",
  OFF: "false",
};
const files: Record<string, string> = {
  "/project/.env": "PGUSER=ada\nPGPASSWORD=from-file\n",
  "/project/key.txt": "from-a-file\n",
};

function read(name: string, file: string): string | undefined {
  const url = new URL(`${name}/${file}`, golden);
  return existsSync(url) ? readFileSync(url, "utf8") : undefined;
}

function outcome(name: string) {
  try {
    const { config, problems, warnings } = parseConfig(read(name, "input.json")!, {
      file: read(name, "file.txt")?.trim() ?? "goblin.json",
      ...(read(name, "file.txt") === undefined ? { cwd: "/project" } : {}),
      env,
      readFile: (path) => {
        if (files[path] === undefined) throw new Error("no such file");
        return files[path];
      },
    });
    return {
      config: withoutFixed(config),
      warnings: lines(warnings, formatWarning),
      errors: lines(problems, formatProblem),
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config: {}, warnings: "", errors: lines(error.problems, formatProblem) };
  }
}

/** The values that keys set, and nothing else. */
function withoutFixed(config: Config): unknown {
  const sections = Object.entries(config).map(([name, section]: [string, unknown]) => {
    const values: object = { ...fixed }[name as keyof typeof fixed] ?? {};
    const isSet = ([key]: [string, unknown]): boolean => !Object.hasOwn(values, key);
    return [name, name in fixed ? Object.fromEntries(Object.entries(section as object).filter(isSet)) : section];
  });
  return Object.fromEntries(sections);
}

function lines(problems: readonly Problem[], format: (problem: Problem) => string): string {
  return problems.map((problem) => `${format(problem)}\n`).join("");
}

beforeAll(() => loadConditions());

describe("golden configs", () => {
  const defaults = JSON.parse(read("empty", "expected.json")!) as Record<string, unknown>;

  test.each(readdirSync(golden))("%s", (name) => {
    const { config, warnings, errors } = outcome(name);
    expect(errors).toBe(read(name, "errors.txt") ?? "");
    expect(warnings).toBe(read(name, "warnings.txt") ?? "");
    const expected = read(name, "expected.json");
    expect(config).toEqual(expected === undefined ? {} : { ...defaults, ...JSON.parse(expected) });
    expect(expected !== undefined || errors !== "", "expected.json or errors.txt").toBe(true);
    expect(errors + warnings).not.toContain("hunter2");
  });
});

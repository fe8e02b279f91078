/**
 * Reads a config from its file.
 *
 * Every failure, from a missing file to a missing comma, is a `ConfigError` with located problems.
 */

import { createHash } from "node:crypto";
import { readFileSync, type Stats, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { loadConditions } from "../../policy/conditions/condition.ts";
import type { Probe } from "../likely-failures.ts";
import { ConfigError } from "../problems/problem.ts";
import { type ParsedConfig, parseConfig } from "./parse.ts";

export interface LoadedConfig extends ParsedConfig {
  readonly path: string;
  /**
   * Identifies the text that was read; `watchConfig` compares it to notice an edit made since then.
   */
  readonly digest: string;
}

export interface LoadOptions {
  /** The file was found in the current folder; see `ParseOptions`. */
  readonly found?: boolean;
  /** Whether to look for the programs and folders that it names. */
  readonly probes?: boolean;
  /** Called with the raw file before any of it takes effect; throws to reject it. */
  readonly permit?: ((file: ConfigText) => Promise<void>) | undefined;
}

export interface ConfigText {
  readonly path: string;
  readonly text: string;
  /** SHA-256 of the file's bytes, in hex. */
  readonly digest: string;
}

/** Reads and parses a config. @throws ConfigError */
export async function loadConfig(
  path: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  options: LoadOptions = {},
): Promise<LoadedConfig> {
  const file = await readConfigText(path);
  await options.permit?.(file);
  if (file.text.includes('"when"')) await loadConditions(file.text);
  const { found = false } = options;
  const parsed = parseConfig(file.text, {
    file: path,
    env,
    found,
    readFile: (envFile) => readFileSync(envFile, "utf8"),
    ...(options.probes && { probe }),
  });
  return { ...parsed, path, digest: file.digest };
}

/** Reads a config's text without parsing it. @throws ConfigError */
export async function readConfigText(path: string): Promise<ConfigText> {
  try {
    const bytes = await readFile(path);
    return { path, text: bytes.toString("utf8"), digest: digestOf(bytes) };
  } catch (cause) {
    const message = READ_MESSAGES[codeOf(cause)] ?? "the file cannot be read";
    throw new ConfigError([{ file: path, line: 0, column: 0, key: "", message }], { cause });
  }
}

const probe: Probe = {
  isFile: (path) => statsOf(path)?.isFile() ?? false,
  isFolder: (path) => statsOf(path)?.isDirectory() ?? false,
};

/** A path that this user may not look at counts as missing. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const READ_MESSAGES: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "this is a folder, not a file",
  EACCES: "reading the file is not permitted",
};

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

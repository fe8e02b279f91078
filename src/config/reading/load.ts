/**
 * Reads a config from its file.
 *
 * Whatever goes wrong, from a missing file to a missing comma, is a `ConfigError` with located
 * problems.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parse as parseTree } from "jsonc-parser";
import { ConfigError } from "../problems/problem.ts";
import { type ParsedConfig, parseConfig } from "./parse.ts";

export interface LoadedConfig extends ParsedConfig {
  readonly path: string;
  /**
   * Identifies the text that was read; `watchConfig` takes it to notice an edit made in between.
   */
  readonly digest: string;
}

/** @throws ConfigError */
export async function loadConfig(
  path: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<LoadedConfig> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const message = READ_MESSAGES[codeOf(cause)] ?? "the file cannot be read";
    throw new ConfigError([{ file: path, line: 0, column: 0, key: "", message }], { cause });
  }
  const parsed = parseConfig(text, { file: path, env, readFile: (file) => readFileSync(file, "utf8") });
  return { ...parsed, path, digest: digestOf(text) };
}

/**
 * Where a gateway with this config listens, as far as a text that is not valid as a whole still
 * says so.
 */
export async function addressIn(path: string): Promise<{ readonly host?: string; readonly port?: number }> {
  const text = await readFile(path, "utf8").catch(() => "");
  const { gateway } = (parseTree(text) ?? {}) as { gateway?: unknown };
  const { host, port } = (gateway ?? {}) as { host?: unknown; port?: unknown };
  return {
    ...(typeof host === "string" && host !== "" && { host }),
    ...(Number.isInteger(port) && { port: port as number }),
  };
}

export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const READ_MESSAGES: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "this is a folder, not a file",
  EACCES: "reading the file is not permitted",
};

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

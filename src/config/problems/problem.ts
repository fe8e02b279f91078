/**
 * A problem in a config file: its place (file, line, column, key), the message, and a guess at the
 * intended text.
 *
 * A message never contains a value from the file, only keys, ids and variable names: any value may
 * be a secret.
 */
import { basename } from "node:path";

export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The key's dotted path; empty for the file as a whole. */
  readonly key: string;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Says in one line why a server's entry cannot be used. Clients see it, so the file is named
 * without its folder.
 */
export function summarise([first, ...more]: readonly Problem[]): string {
  if (first === undefined) return "";
  const line = formatProblem({ ...first, file: basename(first.file) });
  return more.length === 0 ? line : `${line}, and ${more.length} more`;
}

export class ConfigError extends Error {
  readonly code = "CONFIG_INVALID";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options: { readonly cause?: unknown } = {}) {
    super(problems.map(formatProblem).join("\n"), options);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** Formats one line: `goblin.json:12:5 mcpServers.docs.urll: unknown key (did you mean "url"?)`. */
export function formatProblem(problem: Problem): string {
  return `${formatPlace(problem)} ${formatText(problem)}`;
}

export function formatWarning(problem: Problem): string {
  return `${formatPlace(problem)} warning: ${formatText(problem)}`;
}

function formatPlace({ file, line, column }: Problem): string {
  return line === 0 ? `${file}:` : `${file}:${line}:${column}`;
}

function formatText({ key, message, hint }: Problem): string {
  return `${key === "" ? "" : `${key}: `}${message}${hint === undefined ? "" : ` (${hint})`}`;
}

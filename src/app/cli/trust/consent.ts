/**
 * Asks for consent to a config found in the current folder: anybody may have written it, and it
 * names the programs to run.
 *
 * Invariant: no part of the file takes effect before its digest is trusted. On a terminal, `serve`
 * shows the commands and asks once. Everywhere else the file is rejected, and the error names the
 * command that trusts it.
 */
import { ConfigError } from "../../../config/problems/problem.ts";
import type { ConfigText } from "../../../config/reading/load.ts";
import { type Outline, outlineConfig, type ServerOutline } from "../../../config/reading/outline.ts";
import { clean } from "../../../lib/text/clean.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { TrustStore } from "./trust-store.ts";

/** Returns if the file is trusted. @throws ConfigError */
export async function requireTrust(file: ConfigText, store = new TrustStore()): Promise<void> {
  if (!store.isTrusted(file.path, file.digest)) throw untrusted(file.path);
}

/** Asks on the terminal if there is one, and remembers a yes. @throws ConfigError */
export async function askForTrust(file: ConfigText): Promise<void> {
  const store = new TrustStore();
  if (store.isTrusted(file.path, file.digest)) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw untrusted(file.path);
  console.error(`${describeConfig(file)}\n`);
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // End of input counts as no.
  const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  const answer = await Promise.race([lines.question("Do you trust this file? [y/N] "), ended]);
  lines.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw untrusted(file.path);
  store.trust(file.path, file.digest);
}

/** Describes what the file would run, in lines that are safe to print. */
export function describeConfig({ path, text }: ConfigText): string {
  const { servers, host, audit, record } = outlineConfig(text, path);
  const width = Math.max(0, ...servers.map(({ id }) => clean(id).length));
  return [
    `${clean(path)} would have Goblin run, with your rights:`,
    ...(servers.length === 0 ? ["  no servers"] : servers.flatMap((server) => describeServer(server, width))),
    ...describeRest({ host, audit, record }),
  ].join("\n");
}

function describeServer(server: ServerOutline, width: number): string[] {
  const { id, disabled, command, url, cwd, envFile, env, headers, secrets, runs } = server;
  const indent = " ".repeat(width + 4);
  const what = command.length > 0 ? command.map(quote).join(" ") : quote(url ?? "nothing");
  return [
    `  ${clean(id).padEnd(width)}  ${what}${disabled ? " (disabled)" : ""}`,
    ...(command.length > 0 && url !== undefined ? [`${indent}url ${quote(url)}`] : []),
    ...(cwd === undefined ? [] : [`${indent}in ${quote(cwd)}`]),
    ...(envFile === undefined ? [] : [`${indent}with the variables in ${quote(envFile)}`]),
    ...env.map(([name, value]) => `${indent}variable ${quote(name)}=${quote(value)}`),
    ...headers.map(([name, value]) => `${indent}header ${quote(name)}: ${quote(value)}`),
    ...secrets.map((reference) => `${indent}takes the secret ${quote(reference)}`),
    ...runs.map((line) => `${indent}runs for a secret: ${clean(line)}`),
  ];
}

function describeRest({ host, audit, record }: Pick<Outline, "host" | "audit" | "record">): string[] {
  return [
    ...(host === undefined ? [] : [`It listens on ${quote(host)}.`]),
    ...(audit === undefined ? [] : [`It writes to the file ${quote(audit)}.`]),
    ...(record === undefined ? [] : [`It records all messages in the folder ${quote(record)}.`]),
  ];
}

/** Returns a plain word unchanged; quotes and escapes anything else. */
function quote(word: string): string {
  return /^[\w@%+=:,./~$#?&!*()[\]{}<>|;^-]+$/.test(word) ? word : safeJson(word);
}

function untrusted(path: string): ConfigError {
  const message = "this file was found in the current folder and is not trusted, so none of it takes effect";
  const hint = `look at it, then run: goblin trust ${shellWord(path)}; or name it with --config`;
  return new ConfigError([{ file: path, line: 0, column: 0, key: "", message, hint }]);
}

/** Quotes a path for a shell: a folder may have any name. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Warns about entries that are valid but will not start: arguments in the command, a program that
 * is not there, a missing working directory.
 *
 * A warning names the key, never the value. Without a probe it says only what the text shows.
 */
import { isAbsolute, resolve } from "node:path";
import { programWithoutArguments } from "../lib/text/command-words.ts";
import type { ServerTransport, StdioTransport } from "../mcp/links/transport.ts";
import type { KeyPath } from "./problems/locate.ts";
import type { Report } from "./problems/report.ts";

/** Looks at the file system. */
export interface Probe {
  isFile(path: string): boolean;
  isFolder(path: string): boolean;
}

export interface FailureContext {
  readonly report: Report;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly probe?: Probe | undefined;
}

/** `path`: the server's entry. */
export function warnOfFailures(transport: ServerTransport, path: KeyPath, context: FailureContext): void {
  if (transport.kind !== "stdio") return;
  const { report, probe } = context;
  const isThere = probe && isProgram(transport, probe, context.env);
  if (isThere !== true && looksLikeLine(transport.command, isThere === false)) {
    const hint = 'put the program into "command" and each argument into "args"';
    report.warn([...path, "command"], "the command contains arguments, so no program has this name", { hint });
  } else if (isThere === false) {
    const isPath = /[/\\]/.test(transport.command);
    report.warn([...path, "command"], isPath ? "there is no such program" : "this program is not on the PATH");
  }
  if (probe && !probe.isFolder(transport.cwd)) report.warn([...path, "cwd"], "there is no such folder");
}

/** A path may contain spaces, so it is doubted only if there is no such file. */
function looksLikeLine(command: string, isMissing: boolean): boolean {
  return programWithoutArguments(command) !== undefined || (isMissing && /\s/.test(command.trim()));
}

/** Returns whether the program exists; undefined if that cannot be told. */
function isProgram(
  { command, cwd, env }: StdioTransport,
  probe: Probe,
  own: FailureContext["env"],
): boolean | undefined {
  const endings = ["", ...(own["PATHEXT"]?.split(";") ?? [])];
  const isThere = (path: string): boolean => endings.some((ending) => probe.isFile(path + ending));
  if (/[/\\]/.test(command)) return isThere(resolve(cwd, command));
  const folders = env["PATH"] ?? own["PATH"] ?? own["Path"];
  if (folders === undefined) return undefined;
  const separator = own["PATHEXT"] === undefined ? ":" : ";";
  return folders.split(separator).some((folder) => isAbsolute(folder) && isThere(resolve(folder, command)));
}

/**
 * Says why a program could not be started, and what to change in its config entry.
 */
import { existsSync } from "node:fs";
import { programWithoutArguments } from "../../../lib/text/command-words.ts";
import { logText } from "../../protocol/log-text.ts";

export interface FailedStart {
  readonly command: string;
  readonly cwd: string | undefined;
  /** The program's environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly error: NodeJS.ErrnoException;
}

const PATH_CHARS = 300;

export function cannotStart({ command, cwd, env, error }: FailedStart): string {
  const program = programWithoutArguments(command);
  if (cwd !== undefined && !existsSync(cwd)) return refusal(command, `its "cwd" ${quoted(cwd)} does not exist`);
  // What follows the program may be a secret, so it is not shown.
  if (program !== undefined && error.code === "ENOENT") {
    const advice = `put the arguments into "args": "command": ${quoted(program)}, "args": [ … ]`;
    return refusal(`${program} …`, `it is not one program; ${advice}`);
  }
  if (error.code === "EACCES") return refusal(command, "it may not be executed (no permission)");
  if (error.code !== "ENOENT") return refusal(command, error.message);
  if (/[\\/]/.test(command)) return refusal(command, "there is no such file");
  const path = Object.entries(env).find(([name]) => name.toUpperCase() === "PATH")?.[1] ?? "";
  return refusal(command, `command not found in PATH (${logText(path, PATH_CHARS)})`);
}

function refusal(command: string, why: string): string {
  return `Cannot start ${quoted(command)}: ${why}`;
}

function quoted(text: string): string {
  return JSON.stringify(logText(text));
}

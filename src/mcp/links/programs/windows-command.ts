/**
 * Finds what a command of the config means on Windows, and how to start it.
 *
 * There `npx`, `npm` and most installed tools are `.cmd` files, which only cmd.exe can run. The
 * command is looked up in PATH with the endings of PATHEXT, and batch files go through
 * `cmd.exe /d /s /c`. Every argument is quoted and escaped, so no argument can become a second
 * command.
 */
import { statSync } from "node:fs";
import { win32 } from "node:path";

export interface WindowsCommandOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly isFile?: (path: string) => boolean;
}

export interface SpawnedCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether the arguments are already quoted. */
  readonly verbatim: boolean;
}

const USUAL_ENDINGS = ".COM;.EXE;.BAT;.CMD";
const BATCH = /\.(?:cmd|bat)$/i;
/** A shim of npm runs cmd.exe's parser twice over its arguments. */
const SHIM = /node_modules[\\/]\.bin[\\/][^\\/]+\.cmd$/i;
const META = /[()\][%!^"`<>&|;, *?]/g;

export function windowsCommand(options: WindowsCommandOptions): SpawnedCommand {
  const { command, args, env } = options;
  const found = find(options);
  if (found === undefined || !BATCH.test(found)) return { file: found ?? command, args, verbatim: false };
  const parts = [escapeMeta(win32.normalize(found)), ...args.map((arg) => escapeArgument(arg, SHIM.test(found)))];
  return {
    file: variable(env, "ComSpec") ?? "cmd.exe",
    args: ["/d", "/s", "/c", `"${parts.join(" ")}"`],
    verbatim: true,
  };
}

/** Returns the file that cmd.exe would run, or undefined. */
function find({ command, env, cwd, isFile = isPlainFile }: WindowsCommandOptions): string | undefined {
  const endings = (variable(env, "PATHEXT") || USUAL_ENDINGS).split(";").filter(Boolean);
  const hasEnding = endings.some((ending) => command.toLowerCase().endsWith(ending.toLowerCase()));
  // A file without an ending cannot be run on Windows, so `npx` beside `npx.cmd` is not meant.
  const names = hasEnding ? [command] : endings.map((ending) => command + ending.toLowerCase());
  const isPath = /[\\/]/.test(command);
  const folders = isPath ? [cwd ?? "."] : (variable(env, "PATH") ?? "").split(";").filter(Boolean);
  for (const folder of folders) {
    const bare = folder.replace(/^"(.*)"$/, "$1");
    for (const name of names) {
      const path = isPath ? win32.resolve(bare, name) : win32.join(bare, name);
      if (isFile(path)) return path;
    }
  }
  return undefined;
}

function escapeMeta(text: string): string {
  return text.replace(META, "^$&");
}

/** As programs parse it (backslashes before quotes doubled), then as cmd.exe does. */
function escapeArgument(arg: string, isTwice: boolean): string {
  const quoted = `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, "$1$1")}"`;
  const once = escapeMeta(quoted);
  return isTwice ? escapeMeta(once) : once;
}

/** Names of variables have no case on Windows. */
function variable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  const key = Object.keys(env).find((each) => each.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : env[key];
}

function isPlainFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

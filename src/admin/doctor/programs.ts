/**
 * The programs that most servers are started with, as this process finds them on its PATH, with
 * their versions. A gateway that runs as a service has another PATH than its user's shell.
 */
import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

const programNames = ["node", "npx", "uvx", "docker"] as const;

export interface FoundProgram {
  readonly name: string;
  /** Null if it is not on the PATH. */
  readonly path: string | null;
  /** Null if it did not say. */
  readonly version: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const VERSION_MS = 10_000;

export function findPrograms(env: Environment = process.env): Promise<FoundProgram[]> {
  return Promise.all(
    programNames.map(async (name) => {
      const path = findProgram(name, env);
      return { name, path: path ?? null, version: path === undefined ? null : await versionOf(path, env) };
    }),
  );
}

export function pathFolders(env: Environment = process.env): string[] {
  return (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((folder) => folder !== "");
}

function findProgram(name: string, env: Environment): string | undefined {
  const endings = env["PATHEXT"] === undefined ? [""] : ["", ...env["PATHEXT"].split(";")];
  return pathFolders(env)
    .filter((folder) => isAbsolute(folder))
    .flatMap((folder) => endings.map((ending) => join(folder, name + ending)))
    .find(isRunnable);
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function versionOf(path: string, env: Environment): Promise<string | null> {
  // Windows starts its scripts with a shell only.
  const isScript = /\.(?:cmd|bat)$/i.test(path);
  const options = { env: { ...env }, timeout: VERSION_MS, shell: isScript, windowsHide: true };
  return new Promise((resolve) => {
    execFile(isScript ? `"${path}"` : path, ["--version"], options, (error, out) =>
      resolve(error ? null : (/\d+(?:\.\d+)+/.exec(out)?.[0] ?? null)),
    );
  });
}

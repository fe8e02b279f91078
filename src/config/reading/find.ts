/**
 * Finds the config when none is named: first in the current folder, then in the user's config
 * folder.
 *
 * The two differ in trust: only the user writes to the config folder, but anybody may have written
 * a file in the current folder. `isFound` tells them apart.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the candidate paths in search order. */
export function configPlaces(cwd: string, env: Environment, platform: string = process.platform): string[] {
  const home = env.HOME ?? env.USERPROFILE ?? homedir();
  const userFolders = [env.XDG_CONFIG_HOME, platform === "win32" ? env.APPDATA : undefined, join(home, ".config")];
  return [
    ...folderPlaces(cwd),
    // A relative path would point into the current folder and pass for the user's folder.
    ...userFolders
      .filter((folder) => folder !== undefined && isAbsolute(folder))
      .map((folder) => join(folder!, "goblin", "goblin.json")),
  ];
}

/** Returns the first candidate that exists. */
export function findConfig(cwd: string, env: Environment): string | undefined {
  return configPlaces(cwd, env).find((place) => existsSync(place));
}

/**
 * Returns whether the config lies in the current folder, which is not trusted, and is not also the
 * user's own.
 */
export function isFound(path: string, cwd: string, env: Environment): boolean {
  const inFolder = folderPlaces(cwd);
  return inFolder.includes(path) && !configPlaces(cwd, env).slice(inFolder.length).includes(path);
}

function folderPlaces(cwd: string): string[] {
  return [join(cwd, "goblin.json"), join(cwd, ".mcp.json")];
}

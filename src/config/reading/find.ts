/**
 * Where a config is looked for when none is named: the current folder, then the user's config
 * folder.
 *
 * The two are not alike: the user's config folder is the user's, but anybody may have written what
 * lies in the current one. `isFound` tells them apart.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** The places in the order in which they are tried. */
export function configPlaces(cwd: string, env: Environment, platform: string = process.platform): string[] {
  const home = env.HOME ?? env.USERPROFILE ?? homedir();
  const userFolders = [env.XDG_CONFIG_HOME, platform === "win32" ? env.APPDATA : undefined, join(home, ".config")];
  return [
    ...folderPlaces(cwd),
    // A relative one would be a place in the current folder that passes for the user's.
    ...userFolders
      .filter((folder) => folder !== undefined && isAbsolute(folder))
      .map((folder) => join(folder!, "goblin", "goblin.json")),
  ];
}

/** The first place that exists, or undefined. */
export function findConfig(cwd: string, env: Environment): string | undefined {
  return configPlaces(cwd, env).find((place) => existsSync(place));
}

/**
 * Whether this config lies in the current folder, which is not trusted, and is not the user's own.
 */
export function isFound(path: string, cwd: string, env: Environment): boolean {
  const inFolder = folderPlaces(cwd);
  return inFolder.includes(path) && !configPlaces(cwd, env).slice(inFolder.length).includes(path);
}

function folderPlaces(cwd: string): string[] {
  return [join(cwd, "goblin.json"), join(cwd, ".mcp.json")];
}

/**
 * Where a config is looked for when none is named: the current folder, then the user's config
 * folder.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** The places in the order in which they are tried. */
export function configPlaces(cwd: string, env: Environment, platform: string = process.platform): string[] {
  const home = env.HOME ?? env.USERPROFILE ?? homedir();
  const userFolders = [env.XDG_CONFIG_HOME, platform === "win32" ? env.APPDATA : undefined, join(home, ".config")];
  return [
    join(cwd, "goblin.json"),
    join(cwd, ".mcp.json"),
    ...userFolders
      .filter((folder) => folder !== undefined && folder !== "")
      .map((folder) => join(folder!, "goblin", "goblin.json")),
  ];
}

/** The first place that exists, or undefined. */
export function findConfig(cwd: string, env: Environment): string | undefined {
  return configPlaces(cwd, env).find((place) => existsSync(place));
}

/** Where keys of the config stand in its file. */
import { readFile } from "node:fs/promises";
import { lineIn } from "../../../config/reading/rule-places.ts";

/** Returns the line of a key; null if the file does not have it. */
export type LineOf = (path: readonly (string | number)[]) => number | null;

/** Without a file, or with one that cannot be read, nothing has a line. */
export async function linesIn(configPath: string | undefined): Promise<LineOf> {
  if (configPath === undefined) return () => null;
  try {
    const line = lineIn(await readFile(configPath, "utf8"));
    return (path) => line(path) ?? null;
  } catch {
    return () => null;
  }
}

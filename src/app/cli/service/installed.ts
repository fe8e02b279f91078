/**
 * Which config the installed service runs, and with which program. The definition says it too, but
 * in the language of each service manager.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { isRecord } from "../../../lib/structures/record.ts";
import { writeFileAtomic } from "../../../lib/structures/write-file-atomic.ts";
import type { Definition } from "./definition.ts";

export type Installed = Pick<Definition, "program" | "config">;

/** Returns undefined if nothing is known. */
export async function readInstalled(file: string): Promise<Installed | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    if (!isRecord(value) || typeof value["config"] !== "string" || !Array.isArray(value["program"])) return undefined;
    return { config: value["config"], program: value["program"].map(String) };
  } catch {
    return undefined;
  }
}

export async function writeInstalled(file: string, { program, config }: Installed): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFileAtomic(file, JSON.stringify({ program, config }));
}

export async function removeInstalled(file: string): Promise<void> {
  await rm(file, { force: true });
}

/** Returns what the service needs and no longer finds. */
export function missingIn({ program, config }: Installed): string[] {
  return [...program, config].filter((path) => isAbsolute(path) && !existsSync(path));
}

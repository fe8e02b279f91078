/**
 * A copy of each registry's list on disk, so that searching is local, ranked as Goblin ranks, and
 * possible while a registry is down.
 *
 * Invariant: a copy is replaced as a whole, and only by a complete list.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stateFolder } from "../../config/state-folder.ts";
import { isRecord } from "../../lib/structures/record.ts";
import { writeFileAtomic } from "../../lib/structures/write-file-atomic.ts";
import { listServers } from "./registry-client.ts";
import type { RegistryServer } from "./server-json.ts";

export interface Mirrored {
  readonly registry: string;
  readonly servers: readonly RegistryServer[];
  /** When the list was read, epoch milliseconds; undefined: there is none. */
  readonly readAt: number | undefined;
  /** Why it is not newer. */
  readonly problem?: string;
}

const FRESH_MS = 60 * 60 * 1000;

export interface MirrorOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads the list again, however new the copy is. */
  readonly refresh?: boolean | undefined;
}

/** Returns the list of a registry: the copy if it is new enough, else the registry's own. */
export async function mirrorOf(registry: string, { env, refresh }: MirrorOptions): Promise<Mirrored> {
  const name = createHash("sha256").update(registry).digest("hex").slice(0, 16);
  const folder = join(stateFolder(env), "registries");
  const file = join(folder, `${name}.json`);
  const kept = await read(file);
  const age = Date.now() - (kept?.readAt ?? 0);
  if (kept && !refresh && age >= 0 && age < FRESH_MS) return { registry, ...kept };
  try {
    const readAt = Date.now();
    const servers = await listServers(registry);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFileAtomic(file, JSON.stringify({ registry, readAt, servers }), { isDurable: false });
    return { registry, servers, readAt };
  } catch (error) {
    const problem = (error as Error).message;
    return { registry, servers: kept?.servers ?? [], readAt: kept?.readAt, problem };
  }
}

async function read(file: string): Promise<(Pick<Mirrored, "servers"> & { readonly readAt: number }) | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    if (!isRecord(value) || !Array.isArray(value["servers"]) || typeof value["readAt"] !== "number") return undefined;
    // Goblin wrote it itself.
    return { servers: value["servers"] as RegistryServer[], readAt: value["readAt"] };
  } catch {
    return undefined;
  }
}

/** Returns a name for a config that reveals nothing: a digest of its path, or of nothing. */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { resolve } from "node:path";

export function configKey(path: string | undefined): string {
  return createHash("sha256")
    .update(path === undefined ? "" : realOf(path))
    .digest("hex")
    .slice(0, 32);
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/**
 * Where a server comes from, as the lock file says it: a package of a registry, an address, or a
 * program of this machine.
 *
 * Invariant: the file is for git, so it gets no path of this machine, no arguments and no secret.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { packageRunnerOf } from "../../config/package-runner.ts";
import type { ServerConfig } from "../../config/schema/server.ts";
import { isRecord, recordOf } from "../../lib/structures/record.ts";
import { holdsSecret, isOpaque } from "../../lib/text/secrets/formats.ts";
import { pinOf } from "../registry/pin.ts";

export interface Source {
  readonly npm?: string | undefined;
  readonly pypi?: string | undefined;
  readonly oci?: string | undefined;
  readonly url?: string | undefined;
  readonly command?: string | undefined;
  readonly version?: string | undefined;
  /** As the package manager has it. */
  readonly integrity?: string | undefined;
}

export const sourceKeys = ["npm", "pypi", "oci", "url", "command", "version", "integrity"] as const;

/** What a source is called, without its version. */
export function originOf({ npm, pypi, oci, url, command }: Source): string {
  const [kind, name] = Object.entries({ npm, pypi, oci, url, command }).find(([, value]) => value !== undefined) ?? [];
  return kind === undefined ? "unknown" : `${kind} ${name}`;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `reported`: the version that the server itself tells. */
export async function sourceOf(
  { transport, secretTexts }: Pick<ServerConfig, "transport" | "secretTexts">,
  reported: unknown,
  env: Environment = process.env,
): Promise<Source> {
  const version = typeof reported === "string" && reported.length <= MAX_VERSION ? reported : undefined;
  if (transport.kind !== "stdio") {
    const isSecret = secretTexts?.some(({ at }) => at[0] === "url") ?? false;
    return { url: publicAddress(transport.url, isSecret), version };
  }
  const { command, args } = transport;
  const pin = pinOf(command, args);
  if (!pin) return { command: basename(command.replaceAll("\\", "/")), version };
  const written = packageRunnerOf(command, args)?.package;
  const installed = pin.kind === "npm" && written !== undefined ? await npxPackage(written, pin.name, env) : {};
  return { [pin.kind]: pin.name, version: installed.version ?? pin.version ?? version, integrity: installed.integrity };
}

const MAX_VERSION = 100;

function publicAddress(address: string, isSecret: boolean): string {
  if (!URL.canParse(address)) return "unknown";
  const { origin, pathname } = new URL(address);
  if (isSecret) return origin;
  const shown =
    origin +
    pathname
      .split("/")
      .map((part) => (isOpaque(part) ? "…" : part))
      .join("/");
  return holdsSecret(shown) ? origin : shown;
}

/** What npm wrote down when npx installed a package. Empty if it is not there. */
async function npxPackage(
  spec: string,
  name: string,
  env: Environment,
): Promise<{ readonly version?: string; readonly integrity?: string }> {
  const home = env["HOME"] || env["USERPROFILE"] || homedir();
  const local = env["LOCALAPPDATA"];
  const usual = process.platform === "win32" && local ? join(local, "npm-cache") : join(home, ".npm");
  const cache = env["npm_config_cache"] || env["NPM_CONFIG_CACHE"] || usual;
  // The folder's name is npm's own: a digest of what was asked for.
  const folder = createHash("sha512").update(spec).digest("hex").slice(0, 16);
  try {
    const file = join(cache, "_npx", folder, "node_modules", ".package-lock.json");
    const lock: unknown = JSON.parse(await readFile(file, "utf8"));
    const found = recordOf(isRecord(lock) ? lock["packages"] : {})[`node_modules/${name}`];
    const { version, integrity } = recordOf(found);
    return {
      ...(typeof version === "string" && { version }),
      ...(typeof integrity === "string" && { integrity }),
    };
  } catch {
    return {};
  }
}

/**
 * `goblin outdated`: compares the versions that the config pins with the newest ones: on npm and
 * PyPI, and of images in the MCP registries.
 */
import { loadConfig } from "../../../config/reading/load.ts";
import type { ServerConfig } from "../../../config/schema/server.ts";
import { mirrorOf } from "../../../upstream/registry/mirror.ts";
import { type Pin, pinOf } from "../../../upstream/registry/pin.ts";
import { compareVersions, newestVersion } from "../../../upstream/registry/versions.ts";
import { requireServer } from "../suggest.ts";
import { createStatusLine } from "../terminal/status-line.ts";
import { type Column, printJson, printTable } from "../terminal/table.ts";
import { openPlace } from "./config-place.ts";

export interface OutdatedOptions {
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
}

interface Row {
  readonly server: string;
  readonly package: string;
  /** Null: no version is pinned. */
  readonly pinned: string | null;
  readonly newest: string | null;
  readonly state: "current" | "outdated" | "not pinned" | "unknown";
  /** Why it is unknown. */
  readonly reason?: string;
}

const colours = { current: undefined, outdated: "yellow", "not pinned": "yellow", unknown: "red" } as const;

const columns: Column<Row>[] = [
  { title: "SERVER", text: ({ server }) => server },
  { title: "PACKAGE", text: (row) => row.package },
  { title: "PINNED", text: ({ pinned }) => pinned ?? "–" },
  { title: "NEWEST", text: ({ newest }) => newest ?? "–" },
  {
    title: "STATE",
    text: ({ state, reason }) => (reason ? `${state}: ${reason}` : state),
    colour: ({ state }) => colours[state],
  },
];

export async function outdated(ids: readonly string[], options: OutdatedOptions): Promise<number> {
  const place = await openPlace(options.config);
  const { servers } = place.before ? (await loadConfig(place.file)).config : { servers: [] };
  for (const id of ids)
    requireServer(
      id,
      servers.map((one) => one.id),
    );
  const line = createStatusLine();
  line.spin(() => "asking for the newest versions");
  const chosen = servers.filter(({ id }) => ids.length === 0 || ids.includes(id));
  const rows = await Promise.all(chosen.map((server) => rowOf(server, place.registries))).finally(() => line.clear());
  const known = rows.filter((row) => row !== undefined);
  if (options.json) printJson(known);
  else if (known.length === 0) console.log("No server of the config runs a package.");
  else printTable(known, columns);
  return known.some(({ state }) => state === "outdated") ? 1 : 0;
}

async function rowOf({ id, transport }: ServerConfig, registries: readonly string[]): Promise<Row | undefined> {
  const pin = transport.kind === "stdio" ? pinOf(transport.command, transport.args) : undefined;
  if (!pin) return undefined;
  const pinned = pin.version ?? null;
  const about = { server: id, package: pin.name, pinned };
  try {
    const newest = await newestOf(pin, registries);
    const state = pinned === null ? "not pinned" : compareVersions(pinned, newest) < 0 ? "outdated" : "current";
    return { ...about, newest, state };
  } catch (error) {
    return { ...about, newest: null, state: "unknown", reason: (error as Error).message };
  }
}

async function newestOf({ kind, name }: Pin, registries: readonly string[]): Promise<string> {
  if (kind !== "oci") return newestVersion(kind, name, process.env);
  for (const registry of registries) {
    const { servers } = await mirrorOf(registry, { env: process.env });
    for (const { packages, version } of servers) {
      const own = packages.find((one) => one.kind === "oci" && one.identifier.replace(/[:@][^/]*$/, "") === name);
      if (own) return own.version ?? /:([^/@]+)$/.exec(own.identifier)?.[1] ?? version;
    }
  }
  throw new Error("no registry names this image");
}

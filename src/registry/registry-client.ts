/**
 * Reads the servers of an MCP registry over its API, page by page. Older registries have the same
 * lists under another path.
 */
import { recordOf } from "../structures/record.ts";
import { type RegistryServer, readServer } from "./server-json.ts";

const PATHS = ["v0.1/servers", "v0/servers"];
const PAGE = 100;
const MAX_PAGES = 2000;
const PATIENCE_MS = 20_000;
const NOT_FOUND = 404;

/** Returns the newest version of every server. `since`: only what changed after it. */
export async function listServers(registry: string, since?: string): Promise<RegistryServer[]> {
  const found: RegistryServer[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ version: "latest", limit: String(PAGE) });
    if (since !== undefined) query.set("updated_since", since);
    if (cursor !== undefined) query.set("cursor", cursor);
    const body = await request(registry, `?${query}`);
    const items = Array.isArray(body["servers"]) ? body["servers"] : [];
    found.push(...items.flatMap((item) => readServer(item) ?? []));
    const metadata = recordOf(body["metadata"]);
    const next = metadata["nextCursor"] ?? metadata["next_cursor"];
    if (typeof next !== "string" || next === "" || next === cursor) return found;
    cursor = next;
  }
  throw new Error(`${registry} has more than ${MAX_PAGES} pages`);
}

/** Returns one server; undefined if the registry has none of this name. */
export async function getServer(
  registry: string,
  name: string,
  version = "latest",
): Promise<RegistryServer | undefined> {
  const path = `/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`;
  return readServer(await request(registry, path));
}

async function request(registry: string, rest: string): Promise<Readonly<Record<string, unknown>>> {
  const base = registry.endsWith("/") ? registry : `${registry}/`;
  for (const path of PATHS) {
    const url = new URL(path + rest, base);
    const response = await fetch(url, {
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).catch((error: { cause?: { code?: string }; name?: string }) => {
      const why = error.cause?.code ?? (error.name === "TimeoutError" ? "no answer" : String(error));
      throw new Error(`${registry} cannot be reached (${why})`, { cause: error });
    });
    if (response.status === NOT_FOUND) {
      await response.body?.cancel();
      continue;
    }
    if (!response.ok) throw new Error(`${registry} answered ${response.status}`);
    const body: unknown = await response.json().catch(() => undefined);
    if (body === undefined) throw new Error(`${registry} answered without JSON: is it an MCP registry?`);
    return recordOf(body);
  }
  return {};
}

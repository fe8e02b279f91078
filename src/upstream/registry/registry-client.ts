/**
 * Reads the servers of an MCP registry over its API, page by page. Older registries have the same
 * lists under another path.
 */
import { readBounded } from "../../lib/http-client/read-bounded.ts";
import { recordOf } from "../../lib/structures/record.ts";
import { type RegistryServer, readServer } from "./server-json.ts";

const PATHS = ["v0.1/servers", "v0/servers"];
const PAGE = 100;
const MAX_PAGES = 2000;
const PATIENCE_MS = 20_000;
/** One page of a list is far smaller. */
const MAX_BYTES = 16 * 1024 * 1024;
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
    const bytes = await readBounded(response.body, MAX_BYTES);
    if (!bytes) throw new Error(`${registry} answered with more than ${MAX_BYTES} bytes`);
    return recordOf(parsed(bytes, registry));
  }
  return {};
}

function parsed(bytes: Buffer, registry: string): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new Error(`${registry} answered without JSON: is it an MCP registry?`, { cause: error });
  }
}

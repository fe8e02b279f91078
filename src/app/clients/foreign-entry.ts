/**
 * Turns the servers in a client's settings into entries for goblin.json, as they are written: no
 * variable is replaced, and no value is looked at.
 *
 * JSON is read by the same rules as a config of that client would be. Codex and Goose have words of
 * their own, which are put into the common ones first.
 */
import { getNodeValue } from "jsonc-parser";
import type { Dialect } from "../../config/dialects/dialects.ts";
import { translate } from "../../config/dialects/translate.ts";
import { parseSyntax } from "../../config/reading/document.ts";
import { keysAt } from "../../config/schema/shape.ts";
import { isRecord } from "../../lib/structures/record.ts";
import type { KnownClient, SettingsEntry } from "./client.ts";
import { readServers } from "./edit/editor.ts";

/** `file`: by which its client's rules are recognised. @throws EditError */
export async function entriesIn(text: string, client: KnownClient, file: string): Promise<Map<string, SettingsEntry>> {
  const servers = await readServers(text, client);
  const written = client.format === "json" ? text.replace(/^\ufeff/, "") : common(servers, client);
  const { root } = parseSyntax(written);
  if (root?.type !== "object") return new Map();
  const { root: own, dialect } = translate(root, client.format === "json" ? file : "mcp.json");
  const value = getNodeValue(own) as Record<string, unknown>;
  const found = [value["mcpServers"], value["servers"]].find(isRecord) ?? {};
  return new Map(
    Object.entries(found)
      .filter((pair): pair is [string, Record<string, unknown>] => isRecord(pair[1]) && servers.has(pair[0]))
      .map(([name, entry]) => [name, known(entry, dialect)]),
  );
}

/** Keeps what Goblin knows, with variables in its words. */
function known(entry: Record<string, unknown>, dialect: Dialect | undefined): SettingsEntry {
  const keys = new Set(keysAt(["mcpServers", ""]));
  const reword = (value: unknown): unknown => {
    if (typeof value === "string") return dialect?.variables?.(value) ?? value;
    if (Array.isArray(value)) return value.map(reword);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, reword(inner)]));
  };
  const kept = Object.entries(entry).filter(([key, value]) => keys.has(key) && value !== null);
  const { disabled, serverUrl, ...rest } = Object.fromEntries(kept) as Record<string, unknown>;
  return reword({
    ...rest,
    ...(serverUrl !== undefined && rest["url"] === undefined && { url: serverUrl }),
    ...(disabled === true && { enabled: false }),
  }) as SettingsEntry;
}

function common(servers: ReadonlyMap<string, unknown>, { id }: KnownClient): string {
  const entries = [...servers].flatMap(([name, entry]) => {
    if (!isRecord(entry)) return [];
    const own = id === "codex" ? ofCodex(entry) : id === "goose" ? ofGoose(entry) : entry;
    return own === undefined ? [] : [[name, own] as const];
  });
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) });
}

function ofCodex(entry: Record<string, unknown>): Record<string, unknown> {
  const { bearer_token_env_var: token, http_headers: own, env_http_headers: named, env_vars: inherited } = entry;
  const variables = isRecord(named) ? Object.entries(named).map(([name, from]) => [name, `\${env:${from}}`]) : [];
  const headers = {
    ...(isRecord(own) && own),
    ...Object.fromEntries(variables),
    ...(typeof token === "string" && { Authorization: `Bearer \${env:${token}}` }),
  };
  const { command, args, env, cwd, url, enabled, enabled_tools: enabledTools, disabled_tools: disabledTools } = entry;
  const timeoutMs = typeof entry["tool_timeout_sec"] === "number" ? entry["tool_timeout_sec"] * 1000 : undefined;
  return defined({
    command,
    args,
    env,
    cwd,
    url,
    enabled,
    enabledTools,
    disabledTools,
    timeoutMs,
    headers: Object.keys(headers).length > 0 ? headers : undefined,
    inheritEnv: Array.isArray(inherited) ? inherited : undefined,
  });
}

/** Undefined for what is part of Goose itself. */
function ofGoose(entry: Record<string, unknown>): Record<string, unknown> | undefined {
  const { type, cmd, args, envs, env_keys: names, uri, headers, enabled } = entry;
  if (type === "stdio") {
    const inheritEnv = Array.isArray(names) && names.length > 0 ? names : undefined;
    return defined({ command: cmd, args, env: envs, inheritEnv, enabled });
  }
  if (type !== "streamable_http" && type !== "sse") return undefined;
  return defined({ type: type === "sse" ? "sse" : "http", url: uri, headers, enabled });
}

function defined(entry: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

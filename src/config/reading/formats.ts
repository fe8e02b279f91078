/**
 * The keys that other programs write into their MCP config files, and their meaning for Goblin.
 *
 * A key without effect on a gateway is ignored. A key that a user may rely on is ignored with a
 * warning. A key with another name here is an error that names the right one. All other keys are
 * ordinary unknown keys.
 */
import { basename, dirname } from "node:path";
import type { KeyPath } from "../problems/locate.ts";

export type ForeignKey =
  | { readonly kind: "ignored" }
  | { readonly kind: "warned"; readonly message: string }
  | { readonly kind: "renamed"; readonly hint: string };

const ignored: ForeignKey = { kind: "ignored" };
const warned = (message: string): ForeignKey => ({ kind: "warned", message });
const renamed = (hint: string): ForeignKey => ({ kind: "renamed", hint });

const comments: readonly (readonly [string, ForeignKey])[] = [
  ["//", ignored],
  ["$comment", ignored],
  ["_comment", ignored],
];

const serverKeys: ReadonlyMap<string, ForeignKey> = new Map([
  ...comments,
  // Clients ask for approval themselves.
  ["autoApprove", ignored],
  ["alwaysAllow", ignored],
  ["trust", ignored],
  ["alwaysLoad", ignored],
  // Labels for people and marketplaces.
  ["name", ignored],
  ["title", ignored],
  ["description", ignored],
  ["version", ignored],
  ["icon", ignored],
  ["iconUrl", ignored],
  ["logo", ignored],
  ["gallery", ignored],
  ["metadata", ignored],
  // VS Code uses it to debug a server.
  ["dev", ignored],
  ["sandbox", warned("ignored: Goblin runs servers without a sandbox")],
  ["sandboxEnabled", warned("ignored: Goblin runs servers without a sandbox")],
  ["timeout", warned("ignored: some programs count it in seconds, some in milliseconds; use timeoutMs")],
  ["watchPaths", warned("ignored: Goblin does not restart a server when files change")],
  ["auth", warned("ignored: sign-in to servers is not supported; use headers")],
  ["oauth", warned("ignored: sign-in to servers is not supported; use headers")],
  ["headersHelper", renamed('use "headers" with ${env:NAME}')],
  ["httpUrl", renamed('use "url"')],
  ["baseUrl", renamed('use "url"')],
  ["transport", renamed('use "type"')],
  ["environment", renamed('use "env"')],
  ["includeTools", renamed('use "tools": { "allow": […] }')],
  ["excludeTools", renamed('use "tools": { "deny": […] }')],
]);

const desktopSetting = warned("ignored: a setting of another program");
const topLevelKeys: ReadonlyMap<string, ForeignKey> = new Map([
  ...comments,
  ...[
    "globalShortcut",
    "preferences",
    "theme",
    "userThemeMode",
    "telemetry",
    "scale",
    "locale",
    "isUsingBuiltInNodeForMcp",
    "isDxtAutoUpdatesEnabled",
    "allowDevTools",
  ].map((key): [string, ForeignKey] => [key, desktopSetting]),
  ["sandbox", warned("ignored: Goblin runs servers without a sandbox")],
  ["mcp", renamed('put "servers" at the top level of the file')],
]);

/** These files hold many other settings, so unknown keys in them are not an error. */
const SETTINGS_FILES: ReadonlySet<string> = new Set(["claude_desktop_config.json", ".claude.json"]);

/**
 * Folders that hold a project's config. Relative paths start from the project, not from the folder.
 */
const PROJECT_FOLDERS: ReadonlySet<string> = new Set([".vscode", ".cursor", ".windsurf", ".roo"]);

/** Returns the meaning of another program's key; undefined if the key is not one. */
export function foreignKey(path: KeyPath, isKnown: boolean, file: string): ForeignKey | undefined {
  const key = String(path.at(-1));
  if (path.length === 1) {
    return topLevelKeys.get(key) ?? (!isKnown && SETTINGS_FILES.has(basename(file)) ? desktopSetting : undefined);
  }
  return path.length === 3 && (path[0] === "mcpServers" || path[0] === "servers") ? serverKeys.get(key) : undefined;
}

export interface AcceptedKey {
  readonly key: string;
  readonly note: string;
}

/** Returns the keys of other programs that are valid at the top level and in an entry. */
export function acceptedForeignKeys(): Record<"file" | "server", readonly AcceptedKey[]> {
  const accepted = (keys: ReadonlyMap<string, ForeignKey>): AcceptedKey[] =>
    [...keys].flatMap(([key, foreign]) => {
      if (foreign.kind === "renamed") return [];
      return { key, note: foreign.kind === "warned" ? foreign.message : "ignored: a key of another program" };
    });
  return { file: accepted(topLevelKeys), server: accepted(serverKeys) };
}

/** Returns the base folder for relative paths in a config file. */
export function configFolder(file: string): string {
  const folder = dirname(file);
  return PROJECT_FOLDERS.has(basename(folder)) ? dirname(folder) : folder;
}

/**
 * The keys that other programs write into their MCP config files, and what each means for Goblin.
 *
 * A key that changes nothing a gateway does is ignored; one that its user may count on is ignored
 * with a warning; one that has another name here is an error that says the name. What is in no list
 * is an ordinary unknown key.
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
  // Approval is the client's matter, and clients still ask for it.
  ["autoApprove", ignored],
  ["alwaysAllow", ignored],
  ["trust", ignored],
  ["alwaysLoad", ignored],
  // For people and marketplaces.
  ["name", ignored],
  ["title", ignored],
  ["description", ignored],
  ["version", ignored],
  ["icon", ignored],
  ["iconUrl", ignored],
  ["logo", ignored],
  ["gallery", ignored],
  ["metadata", ignored],
  // VS Code's debugging of a server under development.
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

/** Files that hold much more than servers: what is unknown in them is not a mistake. */
const SETTINGS_FILES: ReadonlySet<string> = new Set(["claude_desktop_config.json", ".claude.json"]);

/** Folders in which a program keeps a project's config; paths in it start from the project. */
const PROJECT_FOLDERS: ReadonlySet<string> = new Set([".vscode", ".cursor", ".windsurf", ".roo"]);

/** What a key of another program means, or nothing if it is no such key. */
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

/** The keys of other programs that a valid file may have, at its top level and in an entry. */
export function acceptedForeignKeys(): Record<"file" | "server", readonly AcceptedKey[]> {
  const accepted = (keys: ReadonlyMap<string, ForeignKey>): AcceptedKey[] =>
    [...keys].flatMap(([key, foreign]) => {
      if (foreign.kind === "renamed") return [];
      return { key, note: foreign.kind === "warned" ? foreign.message : "ignored: a key of another program" };
    });
  return { file: accepted(topLevelKeys), server: accepted(serverKeys) };
}

/** The folder that the relative paths in a config file start from. */
export function configFolder(file: string): string {
  const folder = dirname(file);
  return PROJECT_FOLDERS.has(basename(folder)) ? dirname(folder) : folder;
}

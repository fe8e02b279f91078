/**
 * The keys that other programs write into their MCP config files, and their meaning for Goblin.
 *
 * A key without effect on a gateway is ignored. A key that a user may rely on is ignored with a
 * warning. A key that says the same as one of Goblin's is an alias of it. A key that has no
 * equivalent, and without which the server would not work, is an error with the way out. All other
 * keys are ordinary unknown keys.
 */
import type { KeyPath } from "../problems/locate.ts";

export type ForeignKey =
  | { readonly kind: "ignored" }
  /** At the top level: a setting of a program on the desktop. */
  | { readonly kind: "setting" }
  | { readonly kind: "warned"; readonly message: string }
  | { readonly kind: "alias"; readonly of: string }
  | { readonly kind: "refused"; readonly hint: string };

const ignored: ForeignKey = { kind: "ignored" };
const warned = (message: string): ForeignKey => ({ kind: "warned", message });
const alias = (of: string): ForeignKey => ({ kind: "alias", of });
const refused = (hint: string): ForeignKey => ({ kind: "refused", hint });

type Keys = ReadonlyMap<string, ForeignKey>;

function keysOf(...groups: readonly (readonly [ForeignKey, readonly string[]])[]): Keys {
  return new Map(groups.flatMap(([meaning, keys]) => keys.map((key): [string, ForeignKey] => [key, meaning])));
}

const comments = [ignored, ["//", "$comment", "_comment"]] as const;
const noSandbox = warned("ignored: Goblin runs servers without a sandbox");
const noSignIn = warned('ignored: use "auth" for what a login needs');

const serverKeys: Keys = keysOf(
  comments,
  // Clients ask for approval themselves.
  [ignored, ["autoApprove", "alwaysAllow", "autoAllow", "trust", "alwaysLoad", "trusted"]],
  // Labels for people, marketplaces and the programs' own book-keeping.
  [ignored, ["name", "title", "description", "version", "icon", "iconUrl", "logo", "gallery", "metadata", "note"]],
  [
    ignored,
    [
      "fromGalleryId",
      "$typeName",
      "remoteConfigured",
      "source",
      "settings",
      "isActive",
      "isDefaultServer",
      "anythingllm",
    ],
  ],
  // VS Code uses it to debug a server.
  [ignored, ["dev"]],
  [noSandbox, ["sandbox", "sandboxEnabled"]],
  [warned("ignored: some programs count it in seconds, some in milliseconds; use timeoutMs"), ["timeout"]],
  [warned("ignored: Goblin does not restart a server when files change"), ["watchPaths"]],
  [noSignIn, ["oauth", "oauthScopes", "authProviderType", "targetAudience", "targetServiceAccount"]],
  [refused('use "headers" with ${env:NAME}'), ["headersHelper"]],
  [alias("url"), ["httpUrl", "baseUrl"]],
  [alias("type"), ["transport"]],
  [alias("env"), ["environment"]],
  [alias("cwd"), ["working_directory", "workingDirectory"]],
  [alias("tools"), ["includeTools", "enabledTools"]],
  [alias("disabledTools"), ["excludeTools", "disabled_tools"]],
);

const setting: ForeignKey = { kind: "setting" };
const topLevelKeys: Keys = keysOf(
  comments,
  [setting, ["globalShortcut", "preferences", "theme", "userThemeMode", "telemetry", "scale", "locale"]],
  [setting, ["isUsingBuiltInNodeForMcp", "isDxtAutoUpdatesEnabled", "allowDevTools"]],
  [noSandbox, ["sandbox"]],
  [warned("ignored: servers of Kiro's powers belong under mcpServers here"), ["powers"]],
  [refused('put "servers" at the top level of the file'), ["mcp"]],
  [refused('servers belong under "mcpServers"'), ["context_servers", "amp.mcpServers", "mcp_servers"]],
);

/** Other programs' names for types of servers, and Goblin's; a remote server needs none. */
export const foreignTypes: ReadonlyMap<string, string | undefined> = new Map([
  ["local", "stdio"],
  ["streamable", "http"],
  ["streamable_http", "http"],
  ["http-stream", "http"],
  ["remote", undefined],
]);

/** Returns the meaning of another program's key in an entry or at the top level of the file. */
export function foreignKey(path: KeyPath): ForeignKey | undefined {
  const key = String(path.at(-1));
  if (path.length === 1) return topLevelKeys.get(key);
  return path.length === 3 && (path[0] === "mcpServers" || path[0] === "servers") ? serverKeys.get(key) : undefined;
}

/** Returns the key of an entry that this one is another name for. */
export function aliasOf(key: string): string | undefined {
  const foreign = serverKeys.get(key);
  return foreign?.kind === "alias" ? foreign.of : undefined;
}

export interface AcceptedKey {
  readonly key: string;
  readonly note: string;
}

/** Returns the keys of other programs that are valid at the top level and in an entry. */
export function acceptedForeignKeys(): Record<"file" | "server", readonly AcceptedKey[]> {
  return { file: accepted(topLevelKeys), server: accepted(serverKeys) };
}

function accepted(keys: Keys): AcceptedKey[] {
  return [...keys].flatMap(([key, foreign]) => {
    if (foreign.kind === "refused") return [];
    if (foreign.kind === "alias") return { key, note: `Another program's name for ${foreign.of}.` };
    if (foreign.kind === "setting") return { key, note: "ignored: a setting of another program" };
    return { key, note: foreign.kind === "warned" ? foreign.message : "ignored: a key of another program" };
  });
}

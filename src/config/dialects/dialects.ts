/**
 * The programs whose config files Goblin reads: how their files are recognised, where the servers
 * stand in them, and how they write variables.
 *
 * Invariant: a file with one of Goblin's own sections, or with its name, is Goblin's own. In such a
 * file an unknown key is a mistake; in another program's it is that program's business, and at most
 * worth a warning.
 */
import { basename, dirname } from "node:path";
import type { Node } from "jsonc-parser";
import { propertiesOf } from "../reading/document.ts";
import { keysAt } from "../schema/shape.ts";

export interface Dialect {
  readonly program: string;
  /** Matches the file's path, with slashes. */
  readonly file?: RegExp;
  /** Keys at the top level that only this program writes. */
  readonly marks?: readonly string[];
  /** The path of the servers, if not `mcpServers` or `servers`. Empty: the file itself. */
  readonly section?: readonly string[];
  /** The file holds the program's other settings too. */
  readonly hasSettings?: boolean;
  /** Warnings about settings that concern servers. */
  readonly notes?: Readonly<Record<string, string>>;
  /** Rewrites the program's variables as Goblin's. */
  readonly variables?: (text: string) => string;
}

const shellVariables = (text: string): string => text.replace(/(?<![\w$\\])\$([A-Za-z_]\w*)/g, "${$1}");
const bracedVariables = (text: string): string => text.replace(/(?<!\$)\{(env|file):([^}]+)\}/g, "${$1:$2}");

/** In order: the first that fits is the file's. */
const dialects: readonly Dialect[] = [
  { program: "Claude Desktop", file: /\/claude_desktop_config\.json$/, hasSettings: true },
  {
    program: "Claude Code",
    file: /\/\.claude\.json$/,
    marks: ["numStartups", "projects"],
    hasSettings: true,
    notes: { projects: "ignored: only the servers of all projects are read, not those of single ones" },
  },
  {
    program: "Gemini CLI",
    file: /\/\.(gemini|qwen)\/settings\.json$/,
    marks: ["selectedAuthType", "security", "general", "ui", "contextFileName"],
    hasSettings: true,
    notes: { mcp: 'ignored: to leave a server out, set "enabled": false in its entry' },
    variables: shellVariables,
  },
  { program: "Zed", section: ["context_servers"], hasSettings: true },
  { program: "Amp", section: ["amp.mcpServers"], hasSettings: true },
  { program: "VS Code", section: ["mcp", "servers"], hasSettings: true },
  { program: "Crush", file: /\/\.?crush\.json$/, section: ["mcp"], hasSettings: true, variables: shellVariables },
  { program: "opencode", section: ["mcp"], hasSettings: true, variables: bracedVariables },
  { program: "Amazon Q", file: /\/(amazonq\/cli-agents|\.kiro\/agents)\/[^/]+\.json$/, hasSettings: true },
  { program: "Continue", file: /\/\.continue\/config\.json$/, hasSettings: true },
  // Warp, opencode's `.agents/mcp.json`.
  { program: "another program", section: [] },
  { program: "Cursor", file: /\/\.cursor\/mcp\.json$/ },
  { program: "VS Code", file: /\/(\.vscode|Code( - Insiders)?\/User)\/mcp\.json$/ },
  { program: "Copilot CLI", file: /\/mcp-config\.json$/ },
  { program: "Windsurf or Antigravity", file: /\/mcp_config\.json$/ },
  { program: "Cline", file: /\/cline_mcp_settings\.json$/ },
  { program: "Roo", file: /\/(mcp_settings|\.roo\/mcp)\.json$/ },
  { program: "AnythingLLM", file: /\/anythingllm_mcp_servers\.json$/ },
  // Claude Code, Kiro, LM Studio, Trae, Junie, Qoder, Factory, Kimi, Inspector, mcpo and more.
  { program: "another program", file: /\/\.?mcp\.json$/ },
];

/** The sections that no other program's file has at its top level. */
const OWN_SECTIONS: ReadonlySet<string> = new Set(["gateway", "metaTools", "limits", "timeouts", "backends"]);
/** What a file of servers may hold besides them. */
const FILE_KEYS: ReadonlySet<string> = new Set(["$schema", "mcpServers", "servers", "inputs"]);
const OWN_FILE = "goblin.json";
const ENTRY_KEYS: ReadonlySet<string> = new Set(["command", "url", "serverUrl", "httpUrl"]);

/**
 * Folders that hold a project's config. Relative paths start from the project, not from the folder.
 */
const PROJECT_FOLDERS: ReadonlySet<string> = new Set([".vscode", ".cursor", ".windsurf", ".roo"]);

/** Returns the program that the file belongs to; undefined for Goblin's own. */
export function recognise(root: Node, file: string): Dialect | undefined {
  if (basename(file) === OWN_FILE) return undefined;
  const properties = propertiesOf(root);
  const keys = new Set(properties.map(([key]) => key));
  const path = `/${file.replaceAll("\\", "/")}`;
  const isOwn = [...keys].some((key) => OWN_SECTIONS.has(key));
  return dialects.find(({ file: pattern, marks, section, hasSettings }) => {
    // A user who adds Goblin's sections to another program's settings keeps those settings.
    if (isOwn && !(hasSettings && pattern?.test(path))) return false;
    if (pattern?.test(path)) return true;
    if (marks?.some((mark) => keys.has(mark))) return true;
    return section !== undefined && pattern === undefined && !hasServers(keys) && fits(root, section);
  });
}

/** Returns whether the file has servers where Goblin looks for them. */
export function hasServers(keys: ReadonlySet<string>): boolean {
  return keys.has("mcpServers") || keys.has("servers");
}

/** Returns the object at a path of keys. */
export function objectAt(root: Node, path: readonly string[]): Node | undefined {
  let current: Node | undefined = root;
  for (const step of path) current = propertiesOf(current).find(([key]) => key === step)?.[2];
  return current?.type === "object" ? current : undefined;
}

/** Returns whether servers stand at the path. A section of its own name may be empty. */
function fits(root: Node, section: readonly string[]): boolean {
  const servers = objectAt(root, section);
  if (servers === undefined) return false;
  const entries = propertiesOf(servers).filter(([key]) => section.length > 0 || !/^[$_/]/.test(key));
  if (section.length > 0 && section.at(-1) !== "mcp") return true;
  return entries.length > 0 && entries.every(([, , entry]) => isEntry(entry));
}

function isEntry(node: Node): boolean {
  return propertiesOf(node).some(([key]) => ENTRY_KEYS.has(key));
}

/** Returns whether a key at the top level is one of the program's other settings. */
export function isSetting(key: string, dialect: Dialect | undefined, keys: readonly string[]): boolean {
  if (!dialect?.hasSettings || FILE_KEYS.has(key) || OWN_SECTIONS.has(key)) return false;
  // Programs have a "tools" or "log" of their own, unless somebody added Goblin's sections.
  return !keys.some((other) => OWN_SECTIONS.has(other)) || !keysAt([]).includes(key);
}

/** Returns the base folder for relative paths in a config file. */
export function configFolder(file: string): string {
  const folder = dirname(file);
  return PROJECT_FOLDERS.has(basename(folder)) ? dirname(folder) : folder;
}

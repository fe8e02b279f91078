/**
 * The clients that Goblin knows. The order is the one in which they are shown.
 *
 * Sources: the clients' own documentation, November 2026. A client that reads several files has the
 * preferred one first.
 */
import type { KnownClient, Machine, Program, SettingsEntry } from "./client.ts";
import { inApplications, inConfig, inHome, inLocal, inNamed } from "./places.ts";

type Headers = Readonly<Record<string, string>>;
type Remote = NonNullable<KnownClient["remote"]>;

const some = (headers: Headers): { headers?: Headers } => (Object.keys(headers).length > 0 ? { headers } : {});
const typed =
  (type: string): Remote =>
  (url, headers) => ({ type, url, ...some(headers) });
const untyped: Remote = (url, headers) => ({ url, ...some(headers) });
const program = ({ command, args }: Program): SettingsEntry => ({ command, args });
const typedProgram = ({ command, args }: Program): SettingsEntry => ({ type: "stdio", command, args });
const one =
  (place: (machine: Machine) => string) =>
  (machine: Machine): string[] => [place(machine)];

const braced = (name: string): string => `\${${name}}`;
const bracedEnv = (name: string): string => `\${env:${name}}`;
const bare = (name: string): string => `$${name}`;

const SERVERS = ["mcpServers"];

/** A client whose file is JSON with `mcpServers`. */
const usual = (client: Pick<KnownClient, "id" | "title" | "user"> & Partial<KnownClient>): KnownClient => ({
  format: "json",
  section: SERVERS,
  remote: untyped,
  program,
  ...client,
});

export const clients: readonly KnownClient[] = [
  usual({
    id: "claude-code",
    title: "Claude Code",
    user: ({ env, home, ...machine }) => [
      env["CLAUDE_CONFIG_DIR"]
        ? inNamed("CLAUDE_CONFIG_DIR", "", ".claude.json")({ env, home, ...machine })
        : inHome(".claude.json")({ env, home, ...machine }),
    ],
    project: [".mcp.json"],
    remote: typed("http"),
    program: typedProgram,
    variable: braced,
  }),
  // It only starts programs.
  {
    id: "claude-desktop",
    title: "Claude Desktop",
    format: "json",
    section: SERVERS,
    user: one(inApplications("Claude", "claude_desktop_config.json")),
    program,
  },
  usual({
    id: "cursor",
    title: "Cursor",
    user: one(inHome(".cursor", "mcp.json")),
    project: [".cursor", "mcp.json"],
    variable: bracedEnv,
  }),
  usual({
    id: "vscode",
    title: "VS Code",
    user: one(inApplications("Code", "User", "mcp.json")),
    project: [".vscode", "mcp.json"],
    section: ["servers"],
    remote: typed("http"),
    program: typedProgram,
    variable: bracedEnv,
  }),
  usual({
    id: "vscode-insiders",
    title: "VS Code Insiders",
    user: one(inApplications("Code - Insiders", "User", "mcp.json")),
    section: ["servers"],
    remote: typed("http"),
    program: typedProgram,
    variable: bracedEnv,
  }),
  usual({
    id: "copilot-cli",
    title: "Copilot CLI",
    user: one(inNamed("COPILOT_HOME", ".copilot", "mcp-config.json")),
    remote: (url, headers) => ({ type: "http", url, ...some(headers), tools: ["*"] }),
    program: ({ command, args }) => ({ type: "local", command, args, tools: ["*"] }),
    variable: braced,
  }),
  usual({
    id: "windsurf",
    title: "Windsurf",
    user: one(inHome(".codeium", "windsurf", "mcp_config.json")),
    remote: (serverUrl, headers) => ({ serverUrl, ...some(headers) }),
    variable: bracedEnv,
  }),
  {
    id: "codex",
    title: "Codex",
    format: "toml",
    section: ["mcp_servers"],
    user: one(inNamed("CODEX_HOME", ".codex", "config.toml")),
    project: [".codex", "config.toml"],
    // Codex takes the variable's name, not a header with its value.
    remote: (url, { Authorization }) => ({
      url,
      ...(Authorization && { bearer_token_env_var: Authorization.replace("Bearer ", "") }),
    }),
    program,
    variable: (name) => name,
  },
  usual({
    id: "gemini-cli",
    title: "Gemini CLI",
    user: one(inHome(".gemini", "settings.json")),
    project: [".gemini", "settings.json"],
    remote: (httpUrl, headers) => ({ httpUrl, ...some(headers) }),
    variable: bare,
  }),
  usual({
    id: "antigravity",
    title: "Antigravity",
    user: (machine) => [
      inHome(".gemini", "config", "mcp_config.json")(machine),
      inHome(".gemini", "antigravity", "mcp_config.json")(machine),
    ],
    remote: (serverUrl, headers) => ({ serverUrl, ...some(headers) }),
  }),
  usual({
    id: "zed",
    title: "Zed",
    user: one(inConfig("zed", "settings.json")),
    project: [".zed", "settings.json"],
    section: ["context_servers"],
  }),
  usual({
    id: "cline",
    title: "Cline",
    user: one(inApplications("Code/User/globalStorage/saoudrizwan.claude-dev/settings", "cline_mcp_settings.json")),
    remote: typed("streamableHttp"),
  }),
  usual({
    id: "roo",
    title: "Roo Code",
    user: one(inApplications("Code/User/globalStorage/rooveterinaryinc.roo-cline/settings", "mcp_settings.json")),
    project: [".roo", "mcp.json"],
    remote: typed("streamable-http"),
    variable: bracedEnv,
  }),
  usual({
    id: "opencode",
    title: "opencode",
    user: (machine) => [
      ...["opencode.jsonc", "opencode.json"].map((name) => inHome(".config", "opencode", name)(machine)),
      ...(machine.platform === "win32"
        ? [inLocal("opencode", "opencode.json")(machine), inConfig("opencode", "opencode.json")(machine)]
        : []),
    ],
    project: ["opencode.json"],
    section: ["mcp"],
    remote: (url, headers) => ({ type: "remote", url, ...some(headers), enabled: true }),
    program: ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true }),
    variable: (name) => `{env:${name}}`,
  }),
  {
    id: "goose",
    title: "Goose",
    format: "yaml",
    section: ["extensions"],
    user: (machine) => [
      machine.platform === "win32"
        ? inConfig("Block", "goose", "config", "config.yaml")(machine)
        : inHome(".config", "goose", "config.yaml")(machine),
    ],
    remote: (uri, headers) => ({
      enabled: true,
      type: "streamable_http",
      name: "goblin",
      description: "All MCP servers behind Goblin",
      uri,
      ...some(headers),
      timeout: 300,
    }),
    program: ({ command, args }) => ({
      enabled: true,
      type: "stdio",
      name: "goblin",
      description: "All MCP servers behind Goblin",
      cmd: command,
      args,
      timeout: 300,
    }),
  },
  {
    id: "continue",
    title: "Continue",
    format: "yaml",
    section: SERVERS,
    isList: true,
    user: one(inHome(".continue", "config.yaml")),
    remote: (url) => ({ type: "streamable-http", url }),
    program,
  },
  usual({
    id: "lm-studio",
    title: "LM Studio",
    user: (machine) => [inHome(".lmstudio", "mcp.json")(machine), inHome(".cache", "lm-studio", "mcp.json")(machine)],
  }),
  usual({
    id: "kiro",
    title: "Kiro",
    user: one(inHome(".kiro", "settings", "mcp.json")),
    project: [".kiro", "settings", "mcp.json"],
    variable: braced,
  }),
  usual({
    id: "amp",
    title: "Amp",
    user: one(inConfig("amp", "settings.json")),
    section: ["amp.mcpServers"],
    variable: braced,
  }),
  usual({
    id: "crush",
    title: "Crush",
    user: one(inLocal("crush", "crush.json")),
    project: [".crush.json"],
    section: ["mcp"],
    remote: typed("http"),
    program: typedProgram,
    variable: bare,
  }),
  usual({ id: "trae", title: "Trae", user: one(inApplications("Trae", "User", "mcp.json")) }),
  usual({ id: "qoder", title: "Qoder", user: one(inHome(".qoder", "mcp.json")) }),
  usual({
    id: "factory",
    title: "Factory",
    user: one(inHome(".factory", "mcp.json")),
    remote: typed("http"),
    program: typedProgram,
  }),
  usual({ id: "kimi", title: "Kimi", user: one(inHome(".kimi", "mcp.json")) }),
];

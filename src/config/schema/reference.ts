/**
 * docs/configuration.md, written from the config's JSON Schema: every key, its type, its default,
 * what it does.
 */
import { ownKeys, type Schema, type Section } from "./json-schema.ts";
import { STARTS } from "./reference-starts.ts";

const INTRO = `# Configuration

Goblin reads one JSON file. Comments and trailing commas are allowed. It takes the first of:

1. the file named by \`--config\`, or by the environment variable \`GOBLIN_CONFIG\`;
2. \`./goblin.json\`, then \`./.mcp.json\`, which you must [trust](command-line.md) first;
3. \`goblin/goblin.json\` in your config folder: \`$XDG_CONFIG_HOME\`, \`%APPDATA%\` on Windows, or
   \`~/.config\`.

The config files of other programs work unchanged: [which ones](#files-of-other-programs).

- **Checking.** \`goblin check\` names the file, line and key of every mistake, and suggests a fix.
- **Editors** complete and check the file with its JSON Schema. Write it beside the config with
  \`goblin schema > goblin.schema.json\`, and begin the config with
  \`"$schema": "./goblin.schema.json"\`. In a project that depends on the package, the schema is
  \`./node_modules/goblin-mcp/schema/goblin.schema.json\`.
- **Mistakes.** A mistake in one server's entry (an unset variable, an unknown key) disables that
  server alone. Its state is \`invalid\`, with the place and the reason in the log, the status and
  the answers to calls. Every other mistake stops the start.
- **Reloading.** A running gateway applies a changed file at once, with the same rule for entries.
  It reports any other mistake and keeps the last valid config.
- **Trust.** A config in the current folder may belong to somebody else. Goblin runs nothing from
  it until you allow it, with \`goblin trust\` or by confirming the question that \`goblin serve\` asks
  on a terminal. After each change you must allow it again. Such a file must not use \`\${…}\` in
  \`gateway\`, and cannot redirect a command to another host.
- **Variables.** In strings, \`\${env:NAME}\`, \`\${env:NAME:-default}\`, \`\${NAME}\` and
  \`\${NAME:-default}\` are replaced by environment variables. Where a number or a boolean belongs, a
  string with a variable may stand: \`"port": "\${env:PORT:-3000}"\`. An unset variable without a
  default is a mistake; only in \`args\`, \`\${NAME}\` then stays as written, with a warning, because it
  may be a shell's. \`$\${\` is the text \`\${\`.
- **Names from VS Code and Cursor.** \`\${workspaceFolder}\` is the folder that paths are relative to,
  \`\${workspaceFolderBasename}\` its name, \`\${userHome}\` your home folder, \`\${pathSeparator}\` or
  \`\${/}\` the system's separator. Windsurf's \`\${file:path}\` is the content of a file.
- **Secrets.** In a server's \`args\`, \`env\`, \`url\`, \`headers\`, \`auth.clientSecret\`,
  \`auth.privateKey\` and \`auth.idp.clientSecret\`, \`\${keychain:NAME}\`,
  \`\${op://vault/item/field}\`, \`\${file:path}\`, \`\${cmd:program args}\` and \`\${input:some-id}\` are
  looked up each time the server starts or logs in ([secrets](secrets.md)).
- **Paths** are relative to the file's folder. A leading \`~\` is the home folder in \`command\`,
  \`args\`, \`cwd\` and \`envFile\`.

This page is generated from the schema.
`;

const SHARING = `### Who shares a server

**\`share: "auto"\`**: all clients use one connection, as with \`"all"\`, until the server shows
that it must tell them apart: it asks something outside of a call, such as the client's roots at its
start.

- From then on, each new session that can be asked has its own connection, as with \`"session"\`. A
  session that has used the shared connection stays there.
- The connection is opened as soon as the session is. The session's first call waits until the
  server's first questions are answered, at most five seconds.
- A client without a session that has roots also gets its own connection. Goblin asks it for them
  in each call to such a server, and tells the server. The connection serves all calls with the same
  roots, the same client name and the same token (or, without tokens, the same address). It closes
  after ten minutes without a call.
- All other clients share the connection. It declares every capability of a client, so the server
  lists all that it has, and what a client sees never depends on which clients came before. A tool
  that needs a capability that its client lacks fails when the server asks.
- Beyond \`limits.connectionsPerServer\`, clients share the connection.
- With \`goblin stdio\` there is one client only, and all questions are its own.

**\`share: "all"\`**: all clients use one connection; a stdio server is one process.

- A message that the server sends on the stream of a request goes to the client of that request.
- Stdio and HTTP+SSE have no such streams. There, a question or log message goes to the client
  whose calls are running, if all of them are one client's.
- A server does not answer a cancelled call, so nothing tells when it has stopped. A cancelled or
  timed-out call counts as running for ten minutes against clients with another token (or, without
  tokens, at another address), and for five seconds against other clients of the same token or
  address. The client that made it can be asked at once.
- If two clients could be meant, nobody gets the message. A question is answered with an error.

**\`share: "session"\`**: each session has its own connection (or process) with its client's own
capabilities, from its first call to its end.

- A client without a session is known at most by its token, and others may use the same token. So
  each of its calls gets its own connection, which closes after the answer. No client sees state
  that the server kept for another one.
- That connection stays open for ten minutes if the server asked a question or began a task. Only
  a client with the same token can continue it.
- A stdio server starts once for each of these calls. If that is too slow, and the server keeps
  nothing private, set \`share: "all"\`.
- A task that a session began ends with the session's connection, and so with the session. For
  tasks that outlive it, set \`share: "all"\`.
- \`limits.connectionsPerServer\` limits the number of these connections.

**Without \`share\`**, it is \`"auto"\`. The exception is a stdio server or one with
\`type: "sse"\`, if \`gateway.auth\` may admit two or more different clients: then it is
\`"session"\`. A server without \`type\` that turns out to speak HTTP+SSE stays \`"auto"\`: give it
its type.`;

const FAIRNESS = `### Who counts as one

Accounts share the limits that all clients use up together. An account is a token. Without tokens it
is the remote address (for IPv6 its first 64 bits), and on stdio the channel. A client's own name
and the number of its sessions make no difference. Behind a proxy all clients without tokens have
one address: give them tokens.

- Of \`limits.sessions\`, \`limits.inFlightPerServer\`, \`limits.connectionsPerServer\` and the fixed
  limits that clients share, an account may hold half, rounded up, of what the others leave. One
  greedy account gets half of the places, a second one a quarter; there is room for the next.
- Calls that wait for one of the \`limits.inFlightPerServer\` places take turns: one call of each
  account, then the next of each.
- \`limits.callsPerSecond\`, calls in flight (256) and unread bytes (64 MiB) count per session.
  Clients without a session count per account.

Other limits are fixed, and [metrics](metrics.md#limits) lists them. A key that an earlier version
had is reported with what to do instead.`;

const OTHERS = `## Files of other programs

With \`--config\`, Goblin reads the JSON files of these programs:

| servers in | programs |
|---|---|
| \`mcpServers\` | Claude Desktop, Claude Code (\`.mcp.json\`, \`~/.claude.json\`), Cursor, Windsurf, Cline, Roo, Copilot CLI, Gemini CLI, Qwen Code, Antigravity, Kiro, Amazon Q, LM Studio, Trae, Junie, AnythingLLM, FastMCP, Inspector |
| \`mcpServers\` as a list with \`name\` | Continue |
| \`servers\` | VS Code and Visual Studio (\`mcp.json\`) |
| \`mcp.servers\` | VS Code (\`settings.json\`) |
| \`context_servers\` | Zed |
| \`amp.mcpServers\` | Amp |
| \`mcp\` | opencode, Crush |
| the file itself | Warp, opencode (\`.agents/mcp.json\`) |

- Their own names are understood: \`httpUrl\` and \`serverUrl\` for \`url\`, \`transport\` and
  \`transportType\` for \`type\`, \`type: "local"\`, \`environment\`, \`includeTools\`, \`excludeTools\` and
  \`disabledTools\`, \`tools: ["*"]\`, \`disabled\`, \`auth.CLIENT_ID\` and \`auth.CLIENT_SECRET\`, a
  \`command\` with its arguments in one list, and \`null\` for nothing.
- Gemini's and Crush's \`$NAME\` and opencode's \`{env:NAME}\` are variables in these files.
- Settings that do not concern servers are ignored with a warning, and so are keys of an entry that
  Goblin does not know. In a \`goblin.json\`, and in any file with a section such as \`gateway\`, an
  unknown key is a mistake.
- TOML (Codex) and YAML (Goose, Continue) are refused.`;

/** The page as it should be. */
export function configReference(): string {
  const { mcpServers, servers: _servers, inputs: _inputs, $schema: _schema, ...sections } = ownKeys().properties;
  const entry = mcpServers?.additionalProperties;
  const parts = [INTRO, "## A server's entry", "Under `mcpServers` (or `servers`), by id."];
  if (isSection(entry)) parts.push(table(entry, ""), STARTS, SHARING);
  for (const [key, section] of Object.entries(sections)) {
    parts.push(`## \`${key}\``, section.description ?? "", isSection(section) ? table(section, `${key}.`) : "");
    if (key === "limits") parts.push(FAIRNESS);
  }
  parts.push(OTHERS);
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

function table(section: Section, prefix: string): string {
  return ["| key | type | default | what it does |", "|---|---|---|---|", ...rows(section, prefix)].join("\n");
}

/** One row for each key; nested sections follow under their dotted name. */
function rows(section: Section, prefix: string): string[] {
  return Object.entries(section.properties).flatMap(([key, value]) => {
    const name = `${prefix}${key}`;
    if (isSection(value)) return rows(value, `${name}.`);
    const { additionalProperties: each } = value;
    const nested = isSection(each) ? rows(each, `${name}.<name>.`) : [];
    const fallback = value.default === undefined ? "" : `\`${JSON.stringify(value.default)}\``;
    return [`| \`${name}\` | ${typeOf(value)} | ${fallback} | ${value.description ?? ""} |`, ...nested];
  });
}

function isSection(schema: Schema | false | undefined): schema is Section {
  return schema !== false && schema?.type === "object" && schema.properties !== undefined;
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" \\| ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" \\| ");
  if (schema.type === "array") return `${typeOf(schema.items ?? {})}[]`;
  if (isSection(schema)) return `{ ${Object.keys(schema.properties).join(", ")} }`;
  return schema.type ?? "any";
}

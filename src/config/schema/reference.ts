/**
 * docs/configuration.md, written from the config's JSON Schema: every key, its type, its default,
 * what it does.
 */
import { ownKeys, type Schema, type Section } from "./json-schema.ts";

const INTRO = `# Configuration

Goblin reads one JSON file, with comments and trailing commas allowed: the one named by \`--config\`, else \`./goblin.json\`, \`./.mcp.json\`, or \`goblin/goblin.json\` in the
user's config folder. Claude Desktop's, Cursor's, Windsurf's and Cline's \`{ "mcpServers": … }\` and VS Code's \`{ "servers": … }\` run unchanged.

\`goblin check\` says where a file is wrong: file, line, key, and what was probably meant. \`schema/goblin.schema.json\` in the package lets editors complete it
(\`"$schema": "./node_modules/goblin-mcp/schema/goblin.schema.json"\`). A running gateway takes up a changed file by itself; a broken edit is reported and changes nothing.

A file in the current folder may be somebody else's: a config found there runs nothing until \`goblin trust\` (or a yes to what \`goblin serve\` asks on a terminal) has allowed it, and again after
each change; \`goblin trust --list\` shows what is allowed and \`goblin untrust\` takes it back. Such a file must not have \`\${…}\` in \`gateway\`, and no command follows it to another host. A file named by
\`--config\` and the one in the user's config folder need no trust.

In strings, \`\${env:NAME}\` and \`\${env:NAME:-default}\` are replaced by environment variables (\`\${NAME}\` too, as in Claude Code's files), and VS Code's \`\${input:some-id}\` by the variable \`SOME_ID\`. A leading \`~\` is the home
folder in \`command\`, \`args\`, \`cwd\` and \`envFile\`. Paths are relative to the file's folder.

This page is generated from the schema.
`;

const SHARING = `### Who shares a server

With \`share: "all"\` all clients use one connection, of a program one process. What a server says on the stream of a request reaches the client of that request. Where there is no such stream
(programs, HTTP+SSE), what it asks or logs reaches the client whose calls are under way, if they are one client's; calls that were cancelled or timed out count for ten minutes or until the server
answers them. Where two clients could be meant nobody hears it, and a question is answered with an error.

With \`share: "session"\` each session has a connection, or process, of its own, with its client's own capabilities, from its first call to its end. A client without sessions is known by its token at most, which others may
have as well: each of its calls gets a connection of its own, which ends with the answer, so that nobody meets what the server kept of somebody else. It stays for ten minutes where the server asked for something
or began a task, for whoever comes back with that and the same token. The price is a start of the program for each call of such a client; where that is too much and nothing in the server is private, set
\`share: "all"\`. There are at most \`limits.connectionsPerServer\` of these connections for one server.

Without \`share\` a server is shared, with one exception: a program, as soon as \`gateway.auth.tokens\` has two different tokens.`;

/** The page as it should be. */
export function configReference(): string {
  const { mcpServers, servers: _servers, inputs: _inputs, $schema: _schema, ...sections } = ownKeys().properties;
  const entry = mcpServers?.additionalProperties;
  const parts = [INTRO, "## A server's entry", "Under `mcpServers` (or `servers`), by id."];
  if (isSection(entry)) parts.push(table(entry, ""), SHARING);
  for (const [key, section] of Object.entries(sections)) {
    parts.push(`## \`${key}\``, section.description ?? "", isSection(section) ? table(section, `${key}.`) : "");
  }
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

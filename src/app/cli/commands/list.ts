/**
 * `goblin list <what>`: lists everything of one kind, as a table or as JSON. With `--profile`, it
 * is what clients of the profile get, over MCP.
 */
import { adminRoutes } from "../../../admin/api/routes.ts";
import type * as schema from "../../../admin/api/schema.ts";
import { formatBytes, formatMs } from "../../../lib/text/format.ts";
import type { ServerState } from "../../../mcp/protocol/server-states.ts";
import { listKinds } from "../choices.ts";
import type { Fields } from "../gateway/mcp-client.ts";
import { type Target, type TargetOptions, withClient, withTarget } from "../gateway/target.ts";
import { requireServer } from "../suggest.ts";
import type { Colour } from "../terminal/paint.ts";
import { whileWaiting } from "../terminal/status-line.ts";
import { type Column, firstLine, printJson, printTable } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

type ListKind = (typeof listKinds)[number];

export interface ListOptions extends TargetOptions {
  readonly json?: boolean | undefined;
  readonly server?: string | undefined;
}

const toolColumns: Column<schema.ToolRow>[] = [
  { title: "TOOL", text: ({ name }) => name },
  { title: "SERVER", text: ({ serverId }) => serverId },
  { title: "DESCRIPTION", text: ({ description, title }) => firstLine(description ?? title) },
];

const promptColumns: Column<schema.PromptRow>[] = [
  { title: "PROMPT", text: ({ name }) => name },
  {
    title: "ARGUMENTS",
    text: ({ arguments: given }) => given.map(({ name, required }) => (required ? name : `[${name}]`)).join(" "),
  },
  { title: "DESCRIPTION", text: ({ description, title }) => firstLine(description ?? title) },
];

const resourceColumns: Column<schema.ResourceRow>[] = [
  { title: "URI", text: ({ uri }) => uri },
  { title: "TYPE", text: ({ mimeType }) => mimeType ?? "–" },
  { title: "SIZE", text: ({ size }) => formatBytes(size), align: "right" },
  { title: "NAME", text: ({ name, title }) => title ?? name },
];

const templateColumns: Column<schema.TemplateRow>[] = [
  { title: "URI TEMPLATE", text: ({ uriTemplate }) => uriTemplate },
  { title: "TYPE", text: ({ mimeType }) => mimeType ?? "–" },
  { title: "NAME", text: ({ name, title }) => title ?? name },
];

const stateColours: Readonly<Record<ServerState, Colour>> = {
  ready: "green",
  installing: "yellow",
  connecting: "yellow",
  degraded: "yellow",
  down: "red",
  "needs-login": "yellow",
  disabled: "dim",
  invalid: "red",
};

export const serverColumns: Column<schema.ServerRow>[] = [
  { title: "SERVER", text: ({ id }) => id },
  { title: "STATE", text: ({ state }) => state, colour: ({ state }) => stateColours[state] },
  { title: "VIA", text: ({ transport }) => transport },
  { title: "TOOLS", text: ({ counts }) => String(counts.tools), align: "right" },
  { title: "PROMPTS", text: ({ counts }) => String(counts.prompts), align: "right" },
  { title: "RESOURCES", text: ({ counts }) => String(counts.resources), align: "right" },
  { title: "CALLS", text: ({ calls }) => String(calls), align: "right" },
  { title: "ERRORS", text: ({ errors }) => String(errors), align: "right" },
  { title: "P50", text: ({ latency }) => formatMs(latency.p50Ms), align: "right" },
  { title: "WHY", text: ({ reason }) => firstLine(reason ?? "") },
];

export async function list(what: string | undefined, options: ListOptions): Promise<number> {
  if (what === undefined || !(listKinds as readonly string[]).includes(what)) {
    // A profile that is not there is what the user wants to know first.
    if (options.profile !== undefined) await withClient(options, async () => 0);
    const kinds = listKinds.join(", ");
    throw new UsageError(
      what === undefined ? `list what? Choose one of ${kinds}` : `list ${what}: expected one of ${kinds}`,
    );
  }
  if (options.profile !== undefined) return listProfile(what as ListKind, options);
  return withTarget({ ...options, only: options.server }, async (target) => {
    await printList(what as ListKind, target, options);
    return 0;
  });
}

const text = (name: string): Column<Fields>["text"] => {
  return (row) => (typeof row[name] === "string" ? firstLine(row[name]) : "–");
};
const named = (row: Fields): string => text(typeof row["title"] === "string" ? "title" : "name")(row);
const about: Column<Fields> = {
  title: "DESCRIPTION",
  text: (row) => (typeof row["description"] === "string" ? firstLine(row["description"]) : named(row)),
};
const type: Column<Fields> = { title: "TYPE", text: text("mimeType") };

/** What MCP's lists hold, for each kind. */
const mcpLists = {
  tools: { method: "tools/list", member: "tools", columns: [{ title: "TOOL", text: text("name") }, about] },
  prompts: { method: "prompts/list", member: "prompts", columns: [{ title: "PROMPT", text: text("name") }, about] },
  resources: {
    method: "resources/list",
    member: "resources",
    columns: [{ title: "URI", text: text("uri") }, type, { title: "NAME", text: named }],
  },
  templates: {
    method: "resources/templates/list",
    member: "resourceTemplates",
    columns: [{ title: "URI TEMPLATE", text: text("uriTemplate") }, type, { title: "NAME", text: named }],
  },
} as const;

function listProfile(what: ListKind, options: ListOptions): Promise<number> {
  if (what === "servers")
    throw new UsageError("list servers: clients of a profile see no servers; leave out --profile");
  if (options.server !== undefined)
    throw new UsageError("--server and --profile: clients of a profile see no servers; use only one of them");
  const { method, member, columns } = mcpLists[what];
  return withClient(options, async (client) => {
    const rows = await whileWaiting(`waiting for the ${what}`, () => client.list(method, member));
    if (options.json) printJson(rows);
    else if (rows.length === 0) console.error("nothing to list");
    else printTable(rows, columns);
    return 0;
  });
}

async function printList(what: ListKind, target: Target, options: ListOptions): Promise<void> {
  if (options.server !== undefined) {
    const { items } = await target.request(adminRoutes.listServers);
    requireServer(
      options.server,
      items.map(({ id }) => id),
    );
  }
  switch (what) {
    case "tools":
      return print((await target.request(adminRoutes.listTools)).items, toolColumns, options);
    case "prompts":
      return print((await target.request(adminRoutes.listPrompts)).items, promptColumns, options);
    case "resources":
      return print((await target.request(adminRoutes.listResources)).items, resourceColumns, options);
    case "templates":
      return print((await target.request(adminRoutes.listTemplates)).items, templateColumns, options);
    case "servers":
      return print((await target.request(adminRoutes.listServers)).items, serverColumns, options);
  }
}

function print<Row extends { serverId: string } | { id: string }>(
  items: readonly Row[],
  columns: readonly Column<Row>[],
  { server, json }: ListOptions,
): void {
  const rows =
    server === undefined ? items : items.filter((row) => ("serverId" in row ? row.serverId : row.id) === server);
  if (json) printJson(rows);
  else if (rows.length === 0) console.error("nothing to list");
  else printTable(rows, columns);
}

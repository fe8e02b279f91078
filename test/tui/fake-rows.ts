/** Plausible rows of the admin API, of the API's own types. */
import type { GrantRow } from "../../src/admin/api/live/grant-schema.ts";
import type { CallDetails, ServerDetails } from "../../src/admin/api/live/schema.ts";
import type * as schema from "../../src/admin/api/schema.ts";

export interface FakeData {
  state: schema.GatewayState;
  servers: schema.ServerRow[];
  tools: schema.ToolRow[];
  prompts: schema.PromptRow[];
  resources: schema.ResourceRow[];
  templates: schema.TemplateRow[];
  subscriptions: schema.SubscriptionRow[];
  sessions: schema.SessionRow[];
  grants: GrantRow[];
  calls: schema.CallRow[];
  logs: schema.LogEntry[];
}

const start = Date.UTC(2026, 8, 1, 12, 0, 0);

export function server(id: string, more: Partial<schema.ServerRow> = {}): schema.ServerRow {
  return {
    id,
    state: "ready",
    reason: null,
    since: start,
    transport: "stdio",
    era: null,
    protocolVersion: "2025-11-25",
    serverInfo: { name: id, version: "1.2.3" },
    counts: { tools: 3, prompts: 1, resources: 2, templates: 1 },
    tokens: 1200,
    calls: 42,
    errors: 1,
    inFlight: 0,
    queue: 0,
    latency: { p50Ms: 12.4, p99Ms: 180 },
    restarts: 0,
    upgrade: null,
    ...more,
  };
}

export function tool(name: string, serverId: string, more: Partial<schema.ToolRow> = {}): schema.ToolRow {
  return {
    name: `${serverId}_${name}`,
    originalName: name,
    serverId,
    description: `Does ${name} on ${serverId}`,
    inputSchema: { type: "object", properties: { path: { type: "string", description: "Where" } }, required: ["path"] },
    tokens: 120,
    calls: 7,
    errors: 0,
    p50Ms: 8.5,
    listed: true,
    ...more,
  };
}

export function resource(uri: string, serverId: string, more: Partial<schema.ResourceRow> = {}): schema.ResourceRow {
  return {
    uri: `${serverId}+${uri}`,
    id: `${serverId}_${uri.replace(/:\/*/, "___").replace(/[^A-Za-z0-9.~_-]+/g, "_")}`,
    originalUri: uri,
    name: uri.split("/").at(-1) ?? uri,
    mimeType: "text/plain",
    size: 2048,
    serverId,
    subscribers: 0,
    ...more,
  };
}

export function log(msg: string, more: Partial<schema.LogEntry> = {}): schema.LogEntry {
  return { time: start, level: "info", server: null, msg, ...more };
}

export function call(name: string, more: Partial<schema.CallRow> = {}): schema.CallRow {
  return {
    time: start,
    method: "tools/call",
    name,
    serverId: "github",
    ms: 23,
    outcome: "ok",
    client: "claude",
    who: null,
    profile: null,
    code: null,
    requestId: "r-1",
    ...more,
  };
}

const createIssue = tool("create_issue", "github", {
  title: "Create an issue",
  description: "Opens an issue in a repository and returns its number.",
  inputSchema: {
    type: "object",
    required: ["repo", "title"],
    properties: {
      repo: { type: "string", description: "owner/name" },
      title: { type: "string", minLength: 3 },
      priority: { type: "integer", minimum: 1, maximum: 5, default: 3 },
      kind: { enum: ["bug", "feature", "question"] },
      draft: { type: "boolean", default: false },
      labels: { type: "array", items: { type: "string" } },
      author: { type: "object", properties: { name: { type: "string" } } },
    },
  },
  annotations: { destructiveHint: true, readOnlyHint: false },
});

export function plausibleData(): FakeData {
  const servers = [
    server("docs", { state: "down", reason: "connect ECONNREFUSED 10.0.0.7:443", transport: "http", calls: 3 }),
    server("filesystem", { counts: { tools: 2, prompts: 0, resources: 3, templates: 1 } }),
    server("github", { transport: "http", calls: 1890, errors: 12 }),
    server("scratch", { state: "disabled", counts: { tools: 0, prompts: 0, resources: 0, templates: 0 } }),
  ];
  const tools = [
    tool("read_file", "filesystem"),
    tool("write_file", "filesystem", {
      description: "Evil \u001b[31mred\u001b[0m \u001b]0;pwned\u0007 text",
      errors: 2,
    }),
    createIssue,
    tool("search_code", "github", { tokens: 900, listed: false }),
  ];
  const resources = [
    resource("file:///logs/app.log", "filesystem", {
      subscribers: 1,
      description: "The log of the application",
      meta: { "goblin/owner": "ops", pages: 4 },
    }),
    resource("file:///etc/hosts", "filesystem"),
    resource("file:///img/logo.png", "filesystem", { mimeType: "image/png", size: 1_500_000 }),
    resource("repo://goblin/README.md", "github", { mimeType: "text/markdown" }),
  ];
  return {
    servers,
    tools,
    resources,
    prompts: [
      {
        name: "github_review",
        originalName: "review",
        serverId: "github",
        description: "Reviews a pull request",
        arguments: [{ name: "number", required: true, description: "Which one" }, { name: "tone" }],
        calls: 4,
        errors: 0,
      },
    ],
    templates: [
      {
        uriTemplate: "github+repo://{owner}/{name}/file",
        originalUriTemplate: "repo://{owner}/{name}/file",
        name: "repo-file",
        description: "A file of a repository",
        serverId: "github",
      },
    ],
    subscriptions: [{ client: "claude-desktop", serverId: "filesystem", uri: "file:///logs/app.log", since: start }],
    grants: [
      {
        id: "g1",
        clientId: "https://chat.example/client.json",
        name: "Chat",
        host: "chat.example",
        resource: "https://mcp.example.com/mcp",
        profile: "research",
        createdAt: start,
        usedAt: start,
      },
    ],
    sessions: [
      {
        id: "a1b2c3d4",
        client: { name: "claude-desktop", version: "1.0" },
        protocolVersion: "2025-11-25",
        who: null,
        endpoint: "/mcp",
        profile: null,
        since: start,
        idleMs: 1200,
        inFlight: 0,
        subscriptions: 1,
      },
    ],
    calls: [
      call("filesystem_read_file", { serverId: "filesystem", ms: 4.2 }),
      call("github_create_issue", { outcome: "timeout", code: "TIMEOUT", ms: 60_000, requestId: "r-2" }),
    ],
    logs: [
      log("gateway ready"),
      log("retrying in 2 s", { level: "warn", server: "docs", extra: { attempt: 3 } }),
      log("wrote 12 files", { level: "debug", server: "filesystem" }),
      log("rate limit hit", { level: "error", server: "github" }),
    ],
    state: {
      version: "0.1.0",
      uptimeMs: 3_723_000,
      endpoint: "http://127.0.0.1:3000/mcp",
      configPath: "goblin.json",
      configProblem: null,
      counts: {
        servers: servers.length,
        ready: 2,
        tools: tools.length,
        prompts: 1,
        resources: resources.length,
        templates: 1,
        subscriptions: 1,
        sessions: 1,
      },
      logLevel: "info",
      calls: { total: 1935, errors: 13, inFlight: 2 },
      exposure: "all",
      tokens: { all: 4200, own: 300, listed: 3300 },
      lock: { mode: "off", differing: 0 },
    },
  };
}

export function callDetails(row: schema.CallRow, more: Partial<CallDetails> = {}): CallDetails {
  return {
    ...row,
    params: { name: row.name, arguments: { path: "/etc/hosts", depth: 2 } },
    paramsBytes: 61,
    paramsMasked: false,
    masked: 0,
    ...(row.code === null
      ? { result: { content: [{ type: "text", text: "fine" }] } }
      : { error: { code: -32001, message: "The tool did not answer in time", data: { code: row.code } } }),
    answerBytes: 48,
    timing: { beforeMs: 0.2, serverMs: row.ms - 0.3, afterMs: 0.1 },
    notifications: [{ method: "notifications/progress", params: { progress: 1, total: 3, message: "first" } }],
    logs: [log("reading", { server: row.serverId })],
    ...more,
  };
}

export function serverDetails(row: schema.ServerRow, more: Partial<ServerDetails> = {}): ServerDetails {
  return {
    ...row,
    command: row.transport === "stdio" ? "npx" : null,
    args: row.transport === "stdio" ? ["-y", `@example/${row.id}`, "--token=***"] : [],
    cwd: null,
    env: row.transport === "stdio" ? ["HOME_DIR"] : [],
    url: row.transport === "stdio" ? null : `https://${row.id}.example.com/mcp`,
    headers: row.transport === "stdio" ? [] : ["Authorization"],
    share: "all",
    prefix: row.id,
    instructions: null,
    stderr: [log("GITHUB_TOKEN is required", { server: row.id, level: "error", extra: { stream: "stderr" } })],
    ...more,
  };
}

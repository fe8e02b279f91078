/**
 * An admin API with plausible data for the dashboard's tests: real HTTP, real server-sent events,
 * the API's shapes.
 *
 * Its data are of the API's types, so the compiler keeps it from answering what the gateway would
 * not.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { AdminEvent } from "../../src/admin/events.ts";
import type { CallDetails, LiveEvent, ServerDetails, UpdateEvent } from "../../src/admin/live/schema.ts";
import type * as schema from "../../src/admin/schema.ts";

export interface FakeData {
  state: schema.GatewayState;
  servers: schema.ServerRow[];
  tools: schema.ToolRow[];
  prompts: schema.PromptRow[];
  resources: schema.ResourceRow[];
  templates: schema.TemplateRow[];
  subscriptions: schema.SubscriptionRow[];
  sessions: schema.SessionRow[];
  calls: schema.CallRow[];
  logs: schema.LogEntry[];
}

export interface FakeAdmin {
  readonly url: string;
  readonly port: number;
  readonly data: FakeData;
  /** Every action that was asked for: "POST /api/servers/github/restart". */
  readonly actions: { request: string; body: unknown }[];
  streams(): number;
  emit(event: AdminEvent): void;
  /** Tells those who watch a resource. */
  update(uri: string): void;
  /** How many watch a resource. */
  watchers(): number;
  pulse(values?: { callsPerSecond?: number; errorsPerSecond?: number; p50Ms?: number | null }): void;
  close(): Promise<void>;
}

export interface FakeOptions {
  port?: number;
  token?: string;
  data?: FakeData;
  /** Milliseconds between pulses; 0 for none. */
  pulseMs?: number;
  /** Runs between the reading of a list and its sending, which then takes a moment. */
  afterSnapshot?: (name: string) => void;
  callTool?: (name: string, values: unknown) => Promise<{ status?: number; body: unknown }>;
  /** Plays a call that is made: sends events, waits for answers, and ends with the last event. */
  play?: (call: FakeCall) => void | Promise<void>;
}

export interface FakeCall {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests know what they call
  readonly params: any;
  readonly send: (event: LiveEvent) => void;
  /** Resolves with the next answer to a question. */
  readonly answered: () => Promise<unknown>;
  /** Resolves when the caller is gone. */
  readonly gone: Promise<void>;
}

export function callDetails(row: schema.CallRow, more: Partial<CallDetails> = {}): CallDetails {
  return {
    ...row,
    params: { name: row.name, arguments: { path: "/etc/hosts", depth: 2 } },
    paramsBytes: 61,
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
    sessions: [
      {
        id: "a1b2c3d4",
        client: { name: "claude-desktop", version: "1.0" },
        protocolVersion: "2025-11-25",
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
      tokens: { all: 4200, listed: 3300 },
    },
  };
}

function echo({ method, params, send }: FakeCall): void {
  const text = `${method} ${params.name ?? params.uri} with ${JSON.stringify(params.arguments)}`;
  const result =
    method === "resources/read"
      ? { contents: [{ uri: params.uri, mimeType: "text/plain", text: "127.0.0.1 localhost" }] }
      : { content: [{ type: "text", text }] };
  send({ type: "result", data: { result } });
}

export async function startFakeAdmin(options: FakeOptions = {}): Promise<FakeAdmin> {
  const data = options.data ?? plausibleData();
  const actions: FakeAdmin["actions"] = [];
  const streams = new Set<ServerResponse>();
  const watching = new Map<ServerResponse, string>();
  const asked = new Map<string, (answer: unknown) => void>();
  let calls = 0;
  const openStream = (response: ServerResponse): ((event: LiveEvent | UpdateEvent) => void) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    return ({ type, data: value }) => response.write(`event: ${type}\ndata: ${JSON.stringify(value)}\n\n`);
  };
  const play = async (body: { method: string; params: Record<string, unknown> }, response: ServerResponse) => {
    const send = openStream(response);
    const id = `live-${++calls}`;
    send({ type: "started", data: { id } });
    const gone = new Promise<void>((resolve) => response.on("close", () => resolve()));
    const answered = () => new Promise((resolve) => asked.set(id, resolve));
    await (options.play ?? echo)({ ...body, send, answered, gone });
    response.end();
  };
  const lists: Record<string, () => unknown[]> = {
    servers: () => data.servers,
    tools: () => data.tools,
    prompts: () => data.prompts,
    resources: () => data.resources,
    templates: () => data.templates,
    subscriptions: () => data.subscriptions,
    sessions: () => data.sessions,
    calls: () => data.calls,
    logs: () => data.logs,
  };
  const emit = ({ type, data: value }: AdminEvent): void => {
    for (const stream of streams) stream.write(`event: ${type}\ndata: ${JSON.stringify(value)}\n\n`);
  };
  const send = (response: ServerResponse, status: number, body: unknown): unknown =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

  const get = (path: string, response: ServerResponse): unknown => {
    const name = path.slice("/api/".length);
    const list = lists[name];
    if (list !== undefined || name === "state") {
      const body = structuredClone(list === undefined ? data.state : { items: list(), total: list().length });
      if (options.afterSnapshot === undefined) return send(response, 200, body);
      options.afterSnapshot(name);
      return setTimeout(() => send(response, 200, body), 100);
    }
    const [, kind, id] = /^\/api\/(servers|calls)\/([^/]+)$/.exec(path) ?? [];
    const row = kind === "servers" && data.servers.find((one) => one.id === decodeURIComponent(id ?? ""));
    if (row) return send(response, 200, serverDetails(row));
    const made = kind === "calls" && data.calls.find((one) => one.requestId === id);
    if (made) return send(response, 200, callDetails(made));
    if (path !== "/api/events") return send(response, 404, { error: { code: "NOT_FOUND", message: `No ${path}` } });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": hello\n\n");
    streams.add(response);
    return response.on("close", () => streams.delete(response));
  };

  const act = async (path: string, body: unknown, response: ServerResponse): Promise<unknown> => {
    const [, id, verb] = /^\/api\/servers\/([^/]+)\/(\w+)$/.exec(path) ?? [];
    if (id !== undefined && verb !== undefined) {
      const row = data.servers.find((one) => one.id === decodeURIComponent(id));
      if (row === undefined) return send(response, 404, { error: { code: "NOT_FOUND", message: `No server ${id}` } });
      row.state = verb === "disable" ? "disabled" : "ready";
      row.reason = null;
      row.restarts += verb === "restart" ? 1 : 0;
      emit({ type: "server", data: { id: row.id, server: row } });
      return send(response, 200, row);
    }
    if (path === "/api/tools/call") {
      const { name, arguments: values } = body as { name: string; arguments: unknown };
      const answer: { status?: number; body: unknown } = await (options.callTool?.(name, values) ?? {
        body: { result: { content: [{ type: "text", text: `called ${name} with ${JSON.stringify(values)}` }] } },
      });
      return send(response, answer.status ?? 200, answer.body);
    }
    if (path === "/api/calls") return play(body as { method: string; params: Record<string, unknown> }, response);
    const [, callId] = /^\/api\/calls\/([^/]+)\/answer$/.exec(path) ?? [];
    if (callId !== undefined) {
      asked.get(callId)?.(body);
      return send(response, 200, { accepted: true });
    }
    if (path === "/api/reload") return send(response, 200, { added: ["new"], removed: [], changed: [] });
    return send(response, 404, { error: { code: "NOT_FOUND", message: `No ${path}` } });
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const path = new URL(request.url ?? "/", "http://fake").pathname;
    if (options.token !== undefined && request.headers.authorization !== `Bearer ${options.token}`) {
      return send(response, 401, { error: { code: "UNAUTHORIZED", message: "no" } });
    }
    if (path === "/api/resources/updates") {
      const uri = new URL(request.url ?? "/", "http://fake").searchParams.get("uri") ?? "";
      openStream(response)({ type: "subscribed", data: { uri } });
      watching.set(response, uri);
      return response.on("close", () => watching.delete(response));
    }
    if (request.method === "GET") return get(path, response);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    actions.push({ request: `${request.method} ${path}`, body });
    return act(path, body, response);
  };

  const http = createServer((request, response) => {
    handle(request, response).catch((error: unknown) =>
      send(response, 500, { error: { code: "FAKE", message: `${error}` } }),
    );
  });
  await new Promise<void>((resolve) => http.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;

  const pulse: FakeAdmin["pulse"] = (values = {}) => {
    const { uptimeMs, counts, calls, tokens, logLevel } = data.state;
    const rates = { callsPerSecond: 12, errorsPerSecond: 0, p50Ms: 9.5, p99Ms: 120, ...values };
    emit({ type: "state", data: { time: Date.now(), uptimeMs, counts, calls, tokens, logLevel, ...rates } });
  };
  const timer = options.pulseMs === 0 ? undefined : setInterval(() => pulse(), options.pulseMs ?? 1000);

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    data,
    actions,
    streams: () => streams.size,
    emit,
    update(uri) {
      for (const [stream, watched] of watching) {
        if (watched === uri) stream.write(`event: updated\ndata: ${JSON.stringify({ uri })}\n\n`);
      }
    },
    watchers: () => watching.size,
    pulse,
    async close() {
      clearInterval(timer);
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

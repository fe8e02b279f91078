/**
 * An admin API with plausible data for the dashboard's tests: real HTTP, real server-sent events,
 * the API's shapes.
 *
 * Its data are of the API's types, so the compiler keeps it from answering what the gateway would
 * not.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { AdminEvent } from "../../src/admin/api/events.ts";
import type { LiveEvent, UpdateEvent } from "../../src/admin/api/live/schema.ts";
import { callDetails, type FakeData, plausibleData, serverDetails } from "./fake-rows.ts";

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

function echo({ method, params, send }: FakeCall): void {
  const text = `${method} ${params.name ?? params.uri} with ${JSON.stringify(params.arguments)}`;
  const result =
    method === "resources/read"
      ? { contents: [{ uri: params.uri, mimeType: "text/plain", text: "127.0.0.1 localhost" }] }
      : { content: [{ type: "text", text }] };
  send({ type: "result", data: { result } });
}

const NO_CHANGES = { added: [], removed: [], changed: [], settings: [], restartNeeded: [] };

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
    grants: () => data.grants,
    approvals: () => [],
    calls: () => data.calls,
    logs: () => data.logs,
  };
  const emit = ({ type, data: value }: AdminEvent): void => {
    for (const stream of streams) stream.write(`event: ${type}\ndata: ${JSON.stringify(value)}\n\n`);
  };
  const send = (response: ServerResponse, status: number, body: unknown): unknown =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

  const get = (path: string, response: ServerResponse): unknown => {
    if (path === "/api/config/changes") return send(response, 200, NO_CHANGES);
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
      if (verb === "login") return send(response, 200, { url: `http://127.0.0.1/connect/${id}` });
      row.state = verb === "disable" ? "disabled" : "ready";
      row.reason = null;
      row.restarts += verb === "restart" ? 1 : 0;
      emit({ type: "server", data: { id: row.id, server: row } });
      return send(response, 200, row);
    }
    if (path === "/api/calls") return play(body as { method: string; params: Record<string, unknown> }, response);
    const [, callId] = /^\/api\/calls\/([^/]+)\/answer$/.exec(path) ?? [];
    if (callId !== undefined) {
      asked.get(callId)?.(body);
      return send(response, 200, { accepted: true });
    }
    if (path === "/api/pairing/codes") {
      const url = "https://mcp.example.com/mcp";
      return send(response, 200, { code: "48217730", expiresAt: Date.now() + 300_000, url });
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

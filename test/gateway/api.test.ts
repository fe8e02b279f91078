import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { adminEvents } from "../../src/admin/api/events.ts";
import { openApiDocument } from "../../src/admin/api/openapi.ts";
import { adminRoutes } from "../../src/admin/api/routes.ts";
import { ApiError } from "../../src/admin/api/schema.ts";
import { parseConfig } from "../../src/config/reading/parse.ts";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, onDispose, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

// biome-ignore lint/suspicious/noExplicitAny: checked against the route's schema before anything looks into it
type Json = any;

async function ask(
  goblin: RunningGoblin,
  name: keyof typeof adminRoutes,
  path?: string,
  body?: unknown,
): Promise<Json> {
  const route = adminRoutes[name];
  const init = {
    method: route.method.toUpperCase(),
    ...(route.method !== "get" && { headers: { "content-type": "application/json" } }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  const response = await fetch(goblin.origin + (path ?? route.path), init);
  const value = await response.json();
  if (response.status !== 200) throw new Error(`${response.status} ${ApiError.parse(value).error.code}`);
  return "response" in route ? route.response.parse(value) : value;
}

async function start() {
  const one = await startScripted({ name: "one" });
  const two = await startScripted({ name: "two", transport: "http" });
  const goblin = await startGoblin({
    mcpServers: { one: one.entry, two: two.entry, off: { command: "nothing", enabled: false } },
  });
  return { one, two, goblin };
}

test("every list answers in its shape and says what the gateway has", async () => {
  const { goblin } = await start();
  const { client } = await connectV1({ url: goblin.url, name: "the-client" });
  await client.callTool({ name: "one_echo", arguments: { text: "x" } });
  await client.callTool({ name: "one_tool_error", arguments: {} });
  await client.callTool({ name: "gone" }).catch(() => {});
  await client.getPrompt({ name: "two_greet", arguments: { name: "Ada" } });
  await client.subscribeResource({ uri: "one+text:///hello" });

  const state = await ask(goblin, "getState");
  expect(state).toMatchObject({
    endpoint: goblin.url,
    configPath: null,
    logLevel: "debug",
    exposure: "all",
    counts: { servers: 3, ready: 2, prompts: 6, resources: 8, templates: 4, subscriptions: 1, sessions: 1 },
    calls: { total: 5, errors: 2, inFlight: 0 },
  });
  expect(state.tokens.all).toBeGreaterThan(500);
  expect(state.tokens.listed).toBe(state.tokens.all + state.tokens.own);
  const own = await ask(goblin, "listOwnTools");
  expect(own.items.reduce((all: number, { tokens }: Json) => all + tokens, 0)).toBe(state.tokens.own);
  const servers = await ask(goblin, "listServers");
  expect(servers.items.map((s: Json) => [s.id, s.state, s.transport, s.calls, s.errors])).toEqual([
    ["one", "ready", "stdio", 3, 1],
    ["two", "ready", "http", 1, 0],
    ["off", "disabled", "stdio", 0, 0],
  ]);
  expect(servers.items[0]).toMatchObject({
    protocolVersion: "2025-11-25",
    serverInfo: { name: "one", version: "1.2.3", "x-info": { kept: true } },
    counts: { prompts: 3, resources: 4, templates: 2 },
  });
  expect(servers.items[0].latency.p50Ms).toBeGreaterThan(0);
  expect(servers.items[2].latency).toEqual({ p50Ms: null, p99Ms: null });
  const tools = await ask(goblin, "listTools");
  const [echo, ...others] = (await ask(goblin, "listTools", "/api/tools?name=one_echo")).items;
  expect([echo.name, echo.calls, others]).toEqual(["one_echo", 1, []]);
  expect((await ask(goblin, "listTools", "/api/tools?name=nothing")).items).toEqual([]);
  expect(tools.items.find((t: Json) => t.name === "one_add")).toMatchObject({
    originalName: "add",
    serverId: "one",
    title: "The add tool",
    description: "Adds two numbers",
    inputSchema: { required: ["a", "b"] },
    outputSchema: { required: ["sum"] },
    annotations: { readOnlyHint: true },
    calls: 0,
    p50Ms: null,
    listed: true,
  });
  expect(tools.items.find((t: Json) => t.name === "one_tool_error")).toMatchObject({ calls: 1, errors: 1 });
  const prompts = await ask(goblin, "listPrompts");
  expect(prompts.items.find((p: Json) => p.name === "two_greet")).toMatchObject({
    arguments: [{ name: "name", description: "Who", required: true }, { name: "style" }],
    calls: 1,
  });
  const resources = await ask(goblin, "listResources");
  expect(resources.items.find((r: Json) => r.uri === "one+text:///hello")).toMatchObject({
    id: "one_text___hello",
    originalUri: "text:///hello",
    mimeType: "text/plain",
    size: 5,
    subscribers: 1,
    meta: { "fixture/of": "hello", annotations: { priority: 0.5 } },
  });
  const templates = await ask(goblin, "listTemplates");
  expect(templates.items[0]).toMatchObject({
    uriTemplate: "one+item://{kind}/{id}",
    originalUriTemplate: "item://{kind}/{id}",
    serverId: "one",
  });
  expect((await ask(goblin, "listSubscriptions")).items).toMatchObject([{ serverId: "one", uri: "text:///hello" }]);
  const sessions = await ask(goblin, "listSessions");
  expect(sessions.items).toMatchObject([{ client: { name: "the-client", version: "1.0.0" }, subscriptions: 1 }]);
  expect(sessions.items[0].id).toHaveLength(8);
  const tokens = await ask(goblin, "getTokens");
  expect(tokens).toMatchObject({ mode: "all", servers: [{ serverId: "one" }, { serverId: "two" }] });
  expect(tokens.all.tools).toBe(tokens.own.tools + tokens.tools.length);
  const calls = await ask(goblin, "listCalls");
  expect(calls.items.map((c: Json) => [c.method, c.name, c.serverId, c.outcome, c.code, c.client])).toEqual([
    ["tools/call", "one_echo", "one", "ok", null, "the-client"],
    ["tools/call", "one_tool_error", "one", "tool-error", null, "the-client"],
    ["tools/call", "gone", null, "error", "TOOL_NOT_FOUND", "the-client"],
    ["prompts/get", "two_greet", "two", "ok", null, "the-client"],
    ["resources/subscribe", "one+text:///hello", "one", "ok", null, "the-client"],
  ]);
  const logs = await ask(goblin, "listLogs", "/api/logs?server=one&level=info&limit=1");
  expect(logs.items).toMatchObject([{ level: "info", server: "one" }]);
});

test("servers are restarted, disabled and enabled; the log level changes", async () => {
  const { one, goblin } = await start();
  expect(await ask(goblin, "restartServer", "/api/servers/one/restart")).toMatchObject({ state: "ready", restarts: 1 });
  expect(await one.events("start")).toHaveLength(2);
  expect(await ask(goblin, "disableServer", "/api/servers/one/disable")).toMatchObject({
    id: "one",
    state: "disabled",
  });
  const names = async () => (await ask(goblin, "listTools")).items.map((t: Json) => t.name);
  expect(await names()).not.toContain("one_echo");
  expect(await names()).toContain("two_echo");
  expect(await ask(goblin, "enableServer", "/api/servers/one/enable")).toMatchObject({ state: "ready" });
  expect(await names()).toContain("one_echo");
  expect(await ask(goblin, "setLogLevel", undefined, { level: "warn" })).toEqual({ level: "warn" });
  expect((await ask(goblin, "getState")).logLevel).toBe("warn");
  await expect(ask(goblin, "setLogLevel", undefined, { level: "loud" })).rejects.toThrow("400 INVALID_PARAMS");
  await expect(ask(goblin, "restartServer", "/api/servers/nobody/restart")).rejects.toThrow("404 SERVER_NOT_FOUND");
  await expect(ask(goblin, "reload")).rejects.toThrow("409 NO_CONFIG_FILE");
});

test("a tool is called through the API, losslessly, and failures have their own status", async () => {
  const { two, goblin } = await start();
  const call = (name: string, args?: unknown) =>
    ask(goblin, "callTool", undefined, { name, ...(args !== undefined && { arguments: args }) });
  expect(await call("one_echo", { text: "hi" })).toMatchObject({ result: { structuredContent: { text: "hi" } } });
  expect(await call("one_tool_error")).toMatchObject({ result: { isError: true, "x-result": 1 } });
  await expect(call("nothing")).rejects.toThrow("404 TOOL_NOT_FOUND");
  await expect(call("one_fail", { code: -32050 })).rejects.toThrow("502 -32050");
  await two.stop();
  await expect(call("two_echo", {})).rejects.toThrow("503 BACKEND_UNAVAILABLE");
});

test("a request that is broken off cancels the call at the server", async () => {
  const { one, goblin } = await start();
  const abort = new AbortController();
  const body = JSON.stringify({ name: "one_sleep", arguments: { ms: 30_000 } });
  const headers = { "content-type": "application/json" };
  const pending = fetch(`${goblin.origin}/api/tools/call`, { method: "POST", body, headers, signal: abort.signal });
  pending.catch(() => {});
  await one.waitFor((r) => r.dir === "in" && r.message?.method === "tools/call");
  abort.abort();
  await one.waitFor((r) => r.dir === "in" && r.message?.method === "notifications/cancelled");
});

test("the API is guarded: token, origin, content type", async () => {
  const goblin = await startGoblin({ gateway: { admin: { tokens: ["admin-token-1"] } } });
  const authorization = "Bearer admin-token-1";
  const status = async (init: RequestInit, path = "/api/state") => (await fetch(goblin.origin + path, init)).status;
  expect(await status({})).toBe(401);
  expect(await status({ headers: { authorization } })).toBe(200);
  expect(await status({ headers: { authorization, origin: "https://evil.example" } })).toBe(403);
  const post = { method: "POST", headers: { authorization, "content-type": "text/plain" } };
  expect(await status(post, "/api/servers/x/restart")).toBe(415);
  expect(await status({ headers: { authorization } }, "/api/nothing")).toBe(404);
  const refused = await (await fetch(`${goblin.origin}/api/state`)).json();
  expect(ApiError.parse(refused).error.code).toBe("UNAUTHORIZED");
});

async function events(goblin: RunningGoblin) {
  const abort = new AbortController();
  onDispose(async () => abort.abort());
  const response = await fetch(`${goblin.origin}/api/events`, { signal: abort.signal });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const seen: { type: string; data: Json }[] = [];
  void (async () => {
    let rest = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + chunk).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const [, type, data] = /^event: (\w+)\ndata: (.*)$/.exec(block)!;
        seen.push({ type: type!, data: adminEvents[type as keyof typeof adminEvents].parse(JSON.parse(data!)) });
      }
    }
  })().catch(() => {});
  const next = (type: string, fits: (data: Json) => unknown = () => true) =>
    until(() => seen.find((event) => event.type === type && fits(event.data))?.data);
  return { seen, next, abort };
}

test("what happens is streamed as it happens", async () => {
  const { one, goblin } = await start();
  const { next, seen } = await events(goblin);
  await next("state");
  const { client } = await connectV1({ url: goblin.url, name: "streamer" });
  await next("sessions", (d) => d.items[0]?.client?.name === "streamer");
  await client.callTool({ name: "one_echo", arguments: {} });
  expect(await next("call")).toMatchObject({ name: "one_echo", outcome: "ok", serverId: "one" });
  await next("state", (d) => d.callsPerSecond === 1 && d.p50Ms > 0 && d.calls.total === 1);
  await client.subscribeResource({ uri: "one+text:///hello" });
  await next("subscriptions", (d) => d.total === 1);
  await one.control("set_tools", { tools: [{ name: "fresh", inputSchema: { type: "object" } }] });
  expect(await next("catalog")).toEqual({ kinds: ["tools"] });
  await one.kill();
  await next("server", (d) => d.id === "one" && d.server.state === "down");
  await next("server", (d) => d.id === "one" && d.server.state === "ready");
  await next("log", (d) => d.server === "one" && d.level === "warn");
  expect(seen.filter((event) => event.type === "call" && event.data.name === "one_echo")).toHaveLength(1);
});

test("the last two minutes are kept while nobody looks", async () => {
  const { goblin } = await start();
  const { client } = await connectV1({ url: goblin.url, name: "unseen" });
  await client.callTool({ name: "one_echo", arguments: {} });
  await client.callTool({ name: "gone" }).catch(() => {});
  type Row = { time: number; callsPerSecond: number; errorsPerSecond: number; tokens: object };
  const sum = (items: Row[], of: (row: Row) => number): number => items.reduce((all, row) => all + of(row), 0);
  let items: Row[] = [];
  await until(async () => {
    ({ items } = await ask(goblin, "getHistory"));
    return sum(items, (row) => row.callsPerSecond) >= 2;
  });
  expect(sum(items, (row) => row.callsPerSecond)).toBe(2);
  expect(sum(items, (row) => row.errorsPerSecond)).toBe(1);
  const { tokens } = await ask(goblin, "getState");
  expect(items.at(-1)!.tokens).toEqual(tokens);
  const { next } = await events(goblin);
  const { time } = await next("state");
  expect(time).toBeGreaterThanOrEqual(items.at(-1)!.time);
});

test("a reload that failed for whatever reason is shown until one succeeds, without a secret", async () => {
  const secret = "sk-0123456789-abcdef";
  const config = { mcpServers: { off: { command: "nothing", enabled: false, env: { KEY: secret } } } };
  const goblin = await startGoblin(config);
  const { seen, next } = await events(goblin);
  await next("state");
  goblin.gateway.reloadFailed(new Error(`cannot be followed: ${secret}`));
  const problem = {
    file: "config",
    line: null,
    column: null,
    key: null,
    message: "cannot be followed: [hidden]",
    hint: null,
  };
  const expected = { at: expect.any(Number), summary: "config: cannot be followed: [hidden]", problems: [problem] };
  expect(await next("config")).toEqual({ problem: expected });
  expect((await ask(goblin, "getState")).configProblem).toEqual(expected);
  const same = parseConfig(JSON.stringify(config), { file: "test.json", env: {} }).config;
  await goblin.gateway.reload(same).done;
  await next("config", (d) => d.problem === null);
  expect((await ask(goblin, "getState")).configProblem).toBeNull();
  // A reload may change what the API tells of rules and profiles: everybody who looks is told.
  await goblin.gateway.reload(same).done;
  const now = Date.now();
  await next("state", ({ time }) => time > now);
  expect(seen.filter(({ type }) => type === "config")).toHaveLength(3);
});

/**
 * An event stream that nobody has read while a server logged this many lines of 8000 characters.
 */
async function unreadEvents(lines: number) {
  const shout = `setTimeout(() => { for (let i = 0; i < ${lines}; i++) console.error("x".repeat(8000)) }, 500)`;
  const loud = { command: process.execPath, args: ["-e", `${shout}; setTimeout(() => {}, 60000)`] };
  const goblin = await startGoblin({ mcpServers: { loud } }, { wait: false });
  const request = new Request("http://127.0.0.1/api/events", { headers: { host: "127.0.0.1" } });
  const { body } = await goblin.gateway.fetch(request);
  const logged = () => goblin.logs.filter((line) => line.server === "loud" && line.msg.length >= 8000).length;
  await until(() => logged() >= lines - 10);
  return body!;
}

test("a stream that nobody reads is ended instead of growing", async () => {
  let bytes = 0;
  for await (const chunk of await unreadEvents(300)) bytes += chunk.byteLength;
  expect(bytes).toBeLessThan(1_100_000);
});

test("a stream that is read late gets everything that waits for it", async () => {
  let text = "";
  for await (const chunk of await unreadEvents(100)) {
    text += new TextDecoder().decode(chunk);
    if (text.split("x".repeat(8000)).length > 90) break;
  }
  expect(text.length).toBeGreaterThan(700_000);
});

test("docs/openapi.json is current", () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const shipped = readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8");
  expect(JSON.parse(shipped)).toEqual(JSON.parse(JSON.stringify(openApiDocument({ version }))));
});

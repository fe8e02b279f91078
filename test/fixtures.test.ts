/**
 * The scripted server and the clients of the tests, directly against each other, so that a test of the gateway
 * that fails is not about them.
 */
import type { Client as ClientV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { afterEach, describe, expect, it } from "vitest";
import {
  connectV1,
  connectV2,
  disposeAll,
  type Handlers,
  rawHttp,
  type Scripted,
  type ScriptedOptions,
  startScripted,
  until,
} from "./fixtures/peers.ts";

afterEach(disposeAll);

function targetOf(server: Scripted) {
  if (server.url === "") return { command: server.command, args: server.args };
  return server.url.endsWith("/sse") ? { sseUrl: server.url } : { url: server.url };
}

const clients = {
  v1: (server: Scripted, handlers: Handlers) => connectV1({ ...targetOf(server), ...handlers }),
  v2: (server: Scripted, handlers: Handlers) => connectV2({ ...targetOf(server), ...handlers }),
  "v2 modern": (server: Scripted, handlers: Handlers) => connectV2({ ...targetOf(server), ...handlers, era: "modern" }),
};

interface CallOptions {
  onprogress?: (progress: { progress: number }) => void;
  signal?: AbortSignal;
}

/** The two generations take the options of a call at different places. */
function call(client: ClientV1 | ClientV2, params: { name: string; arguments: object }, options: CallOptions) {
  const request = { ...params, arguments: { ...params.arguments } };
  return client instanceof ClientV1 ? client.callTool(request, undefined, options) : client.callTool(request, options);
}

const matrix = [
  ["v1", "stdio", "legacy"],
  ["v1", "http", "legacy"],
  ["v1", "sse", "legacy"],
  ["v1", "stdio", "dual"],
  ["v2", "stdio", "legacy"],
  ["v2", "http", "legacy"],
  ["v2", "sse", "legacy"],
  ["v2 modern", "stdio", "modern"],
  ["v2 modern", "http", "modern"],
  ["v2 modern", "http", "dual"],
] as const;

describe.each(matrix)("%s client, %s, %s server", (version, transport, era) => {
  const handlers = {
    elicitation: () => ({ action: "accept", content: { name: "Ada" } }),
    sampling: () => ({ model: "m", role: "assistant", content: { type: "text", text: "Something" } }),
    roots: [{ uri: "file:///home", name: "home" }],
  };
  const open = async (options: ScriptedOptions = {}) => {
    const server = await startScripted({ transport, era, name: "one", ...options });
    return { server, ...(await clients[version](server, handlers)) };
  };

  it("lists in pages, calls, reads, prompts, completes", async () => {
    const { client, server } = await open({ pageSize: 5, tools: 3, resources: 2 });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? { cursor: "after:0" } : { cursor });
      names.push(...page.tools.map((tool) => tool.name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(names.slice(0, 2)).toEqual(["echo", "add"]);
    expect(names.slice(-3)).toEqual(["tool_1", "tool_2", "tool_3"]);
    expect((await server.received("tools/list")).length).toBeGreaterThan(1);

    const sum = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } });
    expect(sum).toMatchObject({ content: [{ text: "5" }], structuredContent: { sum: 5 } });
    const failed = await client.callTool({ name: "tool_error" });
    expect(failed).toMatchObject({ isError: true, content: [{ text: "the tool failed" }] });
    await expect(
      client.callTool({ name: "fail", arguments: { code: -32055, data: { why: 1 } } }),
    ).rejects.toMatchObject({
      code: -32055,
      data: { why: 1 },
    });
    expect((await client.readResource({ uri: "text:///hello" })).contents).toMatchObject([{ text: "hello 0" }]);
    expect((await client.readResource({ uri: "item://book/7" })).contents).toMatchObject([{ uri: "item://book/7" }]);
    const greeting = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } });
    expect(greeting.messages).toMatchObject([{ content: { text: "Greet Ada warmly" } }]);
    const rich = await client.getPrompt({ name: "rich" });
    expect(rich.messages.map((m) => m.content.type)).toEqual(["text", "image", "audio", "resource", "resource_link"]);
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: "item://{kind}/{id}" },
      argument: { name: "id", value: "film" },
      context: { arguments: { kind: "film" } },
    });
    expect(completion.values).toEqual(["film-1", "film-2", "film-3"]);
    const { structuredContent } = await client.callTool({ name: "whoami" });
    expect(structuredContent).toMatchObject({
      era: version === "v2 modern" ? "modern" : "legacy",
      client: { info: { version: "1.0.0" }, capabilities: { sampling: {} } },
    });
    expect(await server.events("violation")).toEqual([]);
  });

  it("reports progress and is cancelled", async () => {
    const { client, server } = await open();
    const steps: number[] = [];
    const onprogress = (progress: { progress: number }) => void steps.push(progress.progress);
    await call(client, { name: "progress", arguments: { steps: 3 } }, { onprogress });
    expect(steps).toEqual([1, 2, 3]);

    const stop = new AbortController();
    const sleeping = call(client, { name: "sleep", arguments: { ms: 60_000 } }, { signal: stop.signal });
    const asked = await server.waitFor((record) => record.message?.params?.name === "sleep");
    stop.abort();
    await expect(sleeping).rejects.toThrow();
    await server.waitFor((record) => record.event === "aborted" && record.requestId === asked.message.id);
    // Over modern HTTP there is no message for it: the client closes the stream.
    const quiet = version === "v2 modern" && transport === "http";
    expect(await server.events("cancelled")).toHaveLength(quiet ? 0 : 1);
  });

  it("asks the client and gets its answer", async () => {
    const { client } = await open();
    const answers = [];
    for (const kind of ["elicitation", "sampling", "roots"]) {
      const result = await client.callTool({ name: "ask", arguments: { kind } });
      answers.push(JSON.parse((result.content as { text: string }[])[0]?.text ?? ""));
    }
    expect(answers).toMatchObject([
      { action: "accept", content: { name: "Ada" } },
      { model: "m", content: { text: "Something" } },
      { roots: [{ uri: "file:///home", name: "home" }] },
    ]);
    const twice = await client.callTool({ name: "ask", arguments: { kind: "elicitation", rounds: 2 } });
    expect(JSON.parse((twice.content as { text: string }[])[0]?.text ?? "")).toHaveLength(2);
    const prompt = await client.getPrompt({ name: "interview" });
    expect(prompt.messages).toMatchObject([{ content: { text: '{"action":"accept","content":{"name":"Ada"}}' } }]);
    const read = await client.readResource({ uri: "ask:///elicitation" });
    expect(read.contents).toMatchObject([{ text: '{"action":"accept","content":{"name":"Ada"}}' }]);
  });

  it("delivers updates and list changes", async () => {
    const { client, server, notifications } = await open();
    const seen = (method: string) => notifications.filter((n) => n.method === method);
    if (version === "v2 modern") {
      await (client as ClientV2).listen({
        toolsListChanged: true,
        resourceSubscriptions: ["text:///hello"],
      });
    } else {
      await client.subscribeResource({ uri: "text:///hello" });
    }
    await client.callTool({ name: "touch", arguments: { uri: "blob:///pixel" } });
    await client.callTool({ name: "touch", arguments: { uri: "text:///hello" } });
    await until(() => seen("notifications/resources/updated").length > 0);
    expect(seen("notifications/resources/updated").map((n) => n.params?.uri)).toEqual(["text:///hello"]);
    expect((await client.readResource({ uri: "text:///hello" })).contents).toMatchObject([{ text: "hello 1" }]);

    await server.control("set_tools", { tools: [{ name: "fresh", inputSchema: { type: "object" } }], keep: false });
    await until(() => seen("notifications/tools/list_changed").length === 1);
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["fresh"]);
    expect(await client.callTool({ name: "fresh", arguments: { a: 1 } })).toMatchObject({
      structuredContent: { server: "one", tool: "fresh", arguments: { a: 1 } },
    });
  });
});

describe("the log", () => {
  it("shows subscriptions, cancellations and violations as the server saw them", async () => {
    const server = await startScripted();
    const { client } = await connectV1(targetOf(server));
    await client.subscribeResource({ uri: "text:///hello" });
    await client.unsubscribeResource({ uri: "text:///hello" });
    expect(await server.events("subscribe")).toMatchObject([{ uri: "text:///hello", conn: 1 }]);
    expect(await server.events("unsubscribe")).toHaveLength(1);
    const stop = new AbortController();
    const call = client.callTool({ name: "sleep", arguments: { ms: 60_000 } }, undefined, { signal: stop.signal });
    await server.waitFor((record) => record.message?.params?.name === "sleep");
    stop.abort();
    await expect(call).rejects.toThrow();
    expect(await server.waitFor((record) => record.event === "cancelled")).toMatchObject({ running: true });
  });

  it("sees a closed stream of the modern era as a cancellation", async () => {
    const server = await startScripted({ transport: "http", era: "modern" });
    const raw = rawHttp(server.url);
    const request = modernRequest(1, "tools/call", { name: "progress", arguments: { steps: 500, ms: 20 } });
    const meta = { ...request.body.params._meta, progressToken: "p" };
    const calling = await raw.stream({
      ...request,
      body: { ...request.body, params: { ...request.body.params, _meta: meta } },
    });
    await calling.next((m) => m.method === "notifications/progress" && m.params.progress === 2);
    await calling.close();
    await server.waitFor((record) => record.event === "stream-closed" && record.requestId === 1);
    const listening = await raw.stream(modernRequest("l", "subscriptions/listen", { notifications: {} }));
    await listening.next((m) => m.method === "notifications/subscriptions/acknowledged");
    await listening.close();
    await server.waitFor((record) => record.event === "unlisten" && record.id === "l");
  });
});

describe("modern HTTP checks", () => {
  it("wants the envelope and equal headers, and knows no initialize", async () => {
    const server = await startScripted({ transport: "http", era: "modern" });
    const raw = rawHttp(server.url);
    expect(await raw.call("initialize", {})).toMatchObject({ status: 404, message: { error: { code: -32601 } } });
    expect(await raw.call("tools/list", {})).toMatchObject({ status: 400, message: { error: { code: -32602 } } });
    const good = modernRequest(1, "tools/call", { name: "route", arguments: { region: "Zürich" } });
    expect(await raw.send(good)).toMatchObject({ status: 400, json: { error: { code: -32020 } } });
    const region = `=?base64?${Buffer.from("Zürich").toString("base64")}?=`;
    expect(await raw.send({ ...good, headers: { ...good.headers, "mcp-param-region": region } })).toMatchObject({
      status: 200,
      json: { result: { resultType: "complete", content: [{ text: "routed to Zürich" }] } },
    });
    const other = { ...good, headers: { ...good.headers, "mcp-method": "tools/list" } };
    expect(await raw.send(other)).toMatchObject({ status: 400, json: { error: { code: -32020 } } });
    expect(await raw.send({})).toMatchObject({ status: 405 });
    const list = await raw.send(modernRequest(2, "tools/list", {}));
    expect(list.json.result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
  });

  it("ends a listen stream as told", async () => {
    const server = await startScripted({
      transport: "http",
      era: "modern",
      script: { listen: { refuse: ["toolsListChanged"] } },
    });
    const raw = rawHttp(server.url);
    const request = modernRequest("l", "subscriptions/listen", {
      notifications: { toolsListChanged: true, promptsListChanged: true },
    });
    const stream = await raw.stream(request);
    const subscription = { "io.modelcontextprotocol/subscriptionId": "l" };
    expect(await stream.next((m) => m.method)).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { _meta: subscription, notifications: { promptsListChanged: true } },
    });
    await server.control("close_streams", { graceful: true });
    expect(await stream.next((m) => m.result)).toMatchObject({ id: "l", result: { _meta: subscription } });
    await until(() => stream.ended);
  });
});

function modernRequest(id: string | number, method: string, params: Record<string, unknown>) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  };
  const name = params.name ?? params.uri;
  return {
    body: { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } },
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
  };
}

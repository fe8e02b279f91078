/**
 * Traces and metrics for OpenTelemetry: a collector on a real socket, checked against the semantic
 * conventions for MCP; one trace from the client through the gateway to the server.
 */
import { afterEach, describe, expect, test } from "vitest";
import { connectV1, connectV2 } from "../fixtures/clients.ts";
import { callTool, checkCollected, startCollector, valuesOf } from "../fixtures/collector.ts";
import type { Span } from "../fixtures/conventions.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";
import { stdioClient } from "../fixtures/stdio.ts";

afterEach(async () => {
  await disposeAll();
  checkCollected();
});

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const HTTP = "00-11111111111111111111111111111111-2222222222222222-01";

describe.each(["legacy", "modern"] as const)("a %s server", (era) => {
  test("a call is one trace: client, gateway, server", async () => {
    const collector = await startCollector();
    const server = await startScripted({ name: "one", era, transport: era === "modern" ? "http" : "stdio" });
    const { gateway, url } = await startGoblin(
      {
        mcpServers: { one: server.entry },
        otel: { endpoint: collector.url },
      },
      { env: { OTEL_EXPORTER_OTLP_HEADERS: "x-team=goblins" } },
    );
    await callTool(
      url,
      { name: "one_add", arguments: { a: 1, b: 2 }, _meta: { traceparent: PARENT } },
      { traceparent: HTTP },
    );
    await gateway.close();
    const [served, asked] = collector.spans as [Span, Span];
    expect(collector.spans).toHaveLength(2);
    expect(served).toMatchObject({
      name: "tools/call one_add",
      kind: 2,
      parentSpanId: "b7ad6b7169203331",
      status: { code: 0 },
    });
    expect(served.links).toEqual([{ traceId: "1".repeat(32), spanId: "2".repeat(16) }]);
    expect(asked).toMatchObject({ name: "tools/call add", kind: 3, parentSpanId: served.spanId, status: { code: 0 } });
    for (const span of collector.spans) {
      expect(span.traceId).toBe("0af7651916cd43dd8448eb211c80319c");
      expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
      expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
    }
    expect(valuesOf(served)).toMatchObject({
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": "one_add",
      "gen_ai.operation.name": "execute_tool",
      "mcp.protocol.version": "2026-07-28",
      "network.transport": "tcp",
      "network.protocol.name": "http",
      "client.address": "127.0.0.1",
    });
    expect(valuesOf(asked)).toMatchObject({ "gen_ai.tool.name": "add" });
    expect(valuesOf(served)).not.toHaveProperty("mcp.session.id");
    expect(valuesOf(served)).not.toHaveProperty("gen_ai.tool.call.arguments");
    expect(valuesOf(asked)).toMatchObject({
      "network.transport": era === "modern" ? "tcp" : "pipe",
      "mcp.protocol.version": era === "modern" ? "2026-07-28" : "2025-11-25",
    });
    // The server sees the gateway's span as its parent.
    const [seen] = await server.received("tools/call");
    expect(seen!.message.params._meta.traceparent).toBe(`00-${asked.traceId}-${asked.spanId}-01`);
    expect(seen!.message.params.arguments).toEqual({ a: 1, b: 2 });
    expect(collector.headers[0]).toMatchObject({ "x-team": "goblins" });
    const names = collector.metrics.map(({ name, unit }) => [name, unit]);
    expect(names).toEqual([
      ["mcp.server.operation.duration", "s"],
      ["mcp.client.operation.duration", "s"],
      ["mcp.client.session.duration", "s"],
    ]);
    expect(collector.metrics[0].histogram.dataPoints[0]).toMatchObject({
      count: "1",
      explicitBounds: expect.any(Array),
    });
  });
});

test("clients of both eras use everything: each request is a span by the conventions", async () => {
  const collector = await startCollector();
  const [one, web] = await Promise.all([
    startScripted({ name: "one" }),
    startScripted({ name: "web", transport: "http", era: "modern" }),
  ]);
  const { gateway, url } = await startGoblin({
    mcpServers: { one: one.entry, web: web.entry },
    otel: { endpoint: collector.url, arguments: true },
  });
  const { client: first } = await connectV1({ url });
  const { client: second } = await connectV2({ url, era: "modern" });
  for (const client of [first, second]) {
    for (const server of ["one", "web"]) {
      await client.callTool({ name: `${server}_add`, arguments: { a: 1, b: 2 } });
      await client.getPrompt({ name: `${server}_greet`, arguments: { name: "Ada" } });
      await client.readResource({ uri: `${server}+text:///hello` });
      await client.readResource({ uri: `${server}+text:///nowhere` }).catch(() => {});
      await client.callTool({ name: `${server}_nowhere` }).catch(() => {});
    }
  }
  await gateway.close();
  const of = (kind: number, method: string) =>
    collector.spans.filter((span) => span.kind === kind && valuesOf(span)["mcp.method.name"] === method);
  for (const kind of [2, 3]) expect(of(kind, "tools/call").length).toBeGreaterThanOrEqual(4);
  // The client's names in what the gateway was asked, the servers' own in what it asked them.
  const prompts = (kind: number) => of(kind, "prompts/get").map(({ name }) => name);
  expect(prompts(2)).toEqual(["one_greet", "web_greet", "one_greet", "web_greet"].map((name) => `prompts/get ${name}`));
  expect(prompts(3)).toEqual(Array(4).fill("prompts/get greet"));
  const reads = (kind: number, uri: string) =>
    of(kind, "resources/read").filter((span) => valuesOf(span)["mcp.resource.uri"] === uri);
  expect([reads(2, "one+text:///hello"), reads(2, "web+text:///hello")].map(({ length }) => length)).toEqual([2, 2]);
  expect(reads(3, "text:///hello")).toHaveLength(4);
  // The modern era has no sessions, the older one has.
  const sessions = of(2, "prompts/get").map((span) => typeof valuesOf(span)["mcp.session.id"]);
  expect(sessions.sort()).toEqual(["string", "string", "undefined", "undefined"]);
  const ports = of(3, "prompts/get").map((span) => valuesOf(span)["server.port"]);
  expect(ports.filter((port) => port === new URL(web.url).port)).toHaveLength(2);
});

test("a client on stdin came through a pipe, one with a token from an address that is not told", async () => {
  const collector = await startCollector();
  const server = await startScripted({ name: "one" });
  const { gateway, url } = await startGoblin({
    mcpServers: { one: server.entry },
    gateway: { auth: { tokens: ["a-token-of-a-client"] } },
    otel: { endpoint: collector.url },
  });
  const params = { name: "one_add", arguments: { a: 1, b: 2 } };
  await callTool(url, params, { authorization: "Bearer a-token-of-a-client" });
  const client = stdioClient(gateway);
  await client.hello();
  client.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params });
  await client.answer(2);
  await gateway.close();
  const served = collector.spans.filter(({ kind }) => kind === 2).map(valuesOf);
  expect(served.map((values) => values["network.transport"])).toEqual(["tcp", "pipe"]);
  for (const values of served) expect(values).not.toHaveProperty("client.address");
});

test("lists, the gateway's own tools and refusals have a span, too, and no server has one", async () => {
  const collector = await startCollector();
  const { gateway, url } = await startGoblin({
    mcpServers: { dead: { command: "no-such-program" } },
    metaTools: { enabled: ["search_tools"] },
    otel: { endpoint: collector.url },
  });
  const { client } = await connectV1({ url });
  await client.listTools();
  await client.callTool({ name: "search_tools", arguments: { query: "a" } });
  await client.callTool({ name: "nowhere" }).catch(() => {});
  await client.callTool({ name: "dead_tool" }).catch(() => {});
  await gateway.close();
  expect(collector.spans.map(({ kind, name, status }) => [kind, name, status.code])).toEqual([
    [2, "tools/list", 0],
    [2, "tools/call search_tools", 0],
    [2, "tools/call nowhere", 0],
    [2, "tools/call dead_tool", 2],
  ]);
  expect(collector.spans.map((span) => valuesOf(span)["error.type"])).toEqual([
    undefined,
    undefined,
    "-32602",
    "-32011",
  ]);
});

test("errors: a tool's own, the server's, and the client's, which is no failure of the gateway", async () => {
  const collector = await startCollector();
  const server = await startScripted({ name: "one" });
  const { gateway, url } = await startGoblin({
    mcpServers: { one: { ...server.entry, env: { API_KEY: "a-secret-value" } } },
    otel: { endpoint: collector.url, arguments: true },
  });
  await callTool(url, { name: "one_tool_error", arguments: { text: "no" } });
  await callTool(url, { name: "one_fail", arguments: { code: -32123, message: "the key a-secret-value is bad" } });
  await callTool(url, { name: "one_fail", arguments: { code: -32602, message: "wrong" } });
  await gateway.close();
  const served = collector.spans.filter(({ kind }) => kind === 2);
  expect(served.map(({ status }) => status)).toEqual([
    { code: 2 },
    { code: 2, message: expect.stringContaining("is bad") },
    { code: 0 },
  ]);
  expect(served.map((span) => valuesOf(span)["error.type"])).toEqual(["tool_error", "-32123", "-32602"]);
  expect(collector.spans.filter(({ kind }) => kind === 3).map(({ status }) => status.code)).toEqual([2, 2, 2]);
  expect(valuesOf(served[0]!)["gen_ai.tool.call.arguments"]).toBe('{"text":"no"}');
  expect(JSON.stringify(collector.spans)).not.toContain("a-secret-value");
});

test("a secret that would be cut, or that JSON escapes, is masked in a span", async () => {
  const collector = await startCollector();
  const server = await startScripted({ name: "one" });
  const secret = 'a-secret-"value"-of-a-server';
  const { gateway, url } = await startGoblin({
    mcpServers: { one: { ...server.entry, env: { API_KEY: secret } } },
    otel: { endpoint: collector.url, arguments: true },
  });
  const text = `${secret} ${"x".repeat(4040)}${secret}`;
  await callTool(url, { name: "one_add", arguments: { a: 1, b: 2, text } });
  await gateway.close();
  expect(collector.spans).toHaveLength(2);
  expect(JSON.stringify(collector.spans)).not.toContain("a-secret");
});

test("a client's decision not to sample holds, and so does the config's", async () => {
  const collector = await startCollector();
  const server = await startScripted({ name: "one" });
  const { gateway, url } = await startGoblin({
    mcpServers: { one: server.entry },
    otel: { endpoint: collector.url, sample: 0 },
  });
  await callTool(url, { name: "one_echo", arguments: {}, _meta: { traceparent: PARENT.replace(/01$/, "00") } });
  await callTool(url, { name: "one_echo", arguments: {} });
  await callTool(url, { name: "one_echo", arguments: {}, _meta: { traceparent: PARENT } });
  await gateway.close();
  expect(collector.spans.filter(({ kind }) => kind === 2)).toHaveLength(1);
  const seen = await server.received("tools/call");
  expect(seen.map(({ message }) => message.params._meta.traceparent.slice(-2))).toEqual(["00", "00", "01"]);
});

test("without a collector, a server sees what the client sent, byte for byte", async () => {
  const server = await startScripted({ name: "one" });
  const { url } = await startGoblin({ mcpServers: { one: server.entry } });
  await callTool(url, { name: "one_echo", arguments: {}, _meta: { traceparent: PARENT } });
  const [seen] = await server.received("tools/call");
  expect(seen!.message.params._meta.traceparent).toBe(PARENT);
});

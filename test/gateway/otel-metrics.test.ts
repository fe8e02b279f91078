/** The metrics for OpenTelemetry: their names, their labels, and what they count. */
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, expect, test } from "vitest";
import { connectV1 } from "../fixtures/clients.ts";
import { callTool, checkCollected, startCollector, valuesOf } from "../fixtures/collector.ts";
import type { Span } from "../fixtures/conventions.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted, until } from "../fixtures/peers.ts";
import { stdioClient } from "../fixtures/stdio.ts";

afterEach(async () => {
  await disposeAll();
  checkCollected();
});

test("the durations of requests have the attributes of the conventions that are known", async () => {
  const collector = await startCollector();
  const server = await startScripted({ name: "one", transport: "http", era: "modern" });
  const { gateway, url } = await startGoblin({ mcpServers: { one: server.entry }, otel: { endpoint: collector.url } });
  await callTool(url, { name: "one_add", arguments: { a: 1, b: 2 } });
  await gateway.close();
  const points = (name: string) => collector.metrics.find((metric) => metric.name === name).histogram.dataPoints;
  const shared = {
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "mcp.protocol.version": "2026-07-28",
    "network.transport": "tcp",
    "network.protocol.name": "http",
  };
  expect(points("mcp.server.operation.duration").map(valuesOf)).toEqual([shared]);
  expect(points("mcp.client.operation.duration").map(valuesOf)).toEqual([
    {
      ...shared,
      "goblin.server.id": "one",
      "network.protocol.version": "1.1",
      "server.address": "127.0.0.1",
      "server.port": new URL(server.url).port,
    },
  ]);
});

test("error codes that servers make up share one label in the metrics", async () => {
  const collector = await startCollector();
  const server = await startScripted({ name: "one" });
  const { gateway, url } = await startGoblin({
    mcpServers: { one: server.entry },
    otel: { endpoint: collector.url },
  });
  for (const code of [-40001, -40002, -32602])
    await callTool(url, { name: "one_fail", arguments: { code, message: "no" } });
  await gateway.close();
  const operations = collector.metrics.filter(({ name }) => name.endsWith(".operation.duration"));
  for (const { name, histogram } of operations) {
    const types = histogram.dataPoints.map((point: Span) => valuesOf(point)["error.type"]);
    expect(types, name).toEqual(["_OTHER", "-32602"]);
    const codes = histogram.dataPoints.map((point: Span) => valuesOf(point)["rpc.response.status_code"]);
    expect(codes, name).toEqual(["_OTHER", "-32602"]);
  }
  expect(operations).toHaveLength(2);
});

const labelsOf = (metrics: { name: string; histogram: { dataPoints: Span[] } }[], name: string) =>
  metrics.filter((metric) => metric.name === name).flatMap(({ histogram }) => histogram.dataPoints.map(valuesOf));

test("sessions of clients are measured when they end, and when the gateway does", async () => {
  const collector = await startCollector();
  const { gateway, url } = await startGoblin(
    { mcpServers: {}, otel: { endpoint: collector.url } },
    { env: { ...process.env, OTEL_METRIC_EXPORT_INTERVAL: "50" } },
  );
  const { transport } = await connectV1({ url });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await (transport as StreamableHTTPClientTransport).terminateSession();
  const name = "mcp.server.session.duration";
  await until(() => collector.metrics.some((metric) => metric.name === name));
  const [first] = collector.metrics.filter((metric) => metric.name === name);
  expect(first).toMatchObject({ unit: "s", histogram: { aggregationTemporality: 2 } });
  const [point] = first.histogram.dataPoints;
  expect(point).toMatchObject({ count: "1" });
  expect(point.sum).toBeGreaterThanOrEqual(0.1);
  expect(point.sum).toBeLessThan(10);
  const labels = {
    "mcp.protocol.version": "2025-11-25",
    "network.transport": "tcp",
    "network.protocol.name": "http",
  };
  expect(valuesOf(point)).toEqual(labels);
  await connectV1({ url });
  const client = stdioClient(gateway);
  await client.hello();
  await gateway.close();
  const last = collector.metrics.filter((metric) => metric.name === name).at(-1);
  expect(last.histogram.dataPoints.map((one: { count: string }) => one.count)).toEqual(["2", "1"]);
  expect(labelsOf([last], name)).toEqual([
    labels,
    { "mcp.protocol.version": "2025-11-25", "network.transport": "pipe" },
  ]);
});

test("connections to servers are measured when they break, and when the gateway ends", async () => {
  const collector = await startCollector();
  const [one, web] = await Promise.all([
    startScripted({ name: "one" }),
    startScripted({ name: "web", transport: "http", era: "modern" }),
  ]);
  const { gateway } = await startGoblin({
    mcpServers: { one: one.entry, web: web.entry, dead: { command: "no-such-program" } },
    otel: { endpoint: collector.url },
  });
  await one.control("exit", { code: 1 });
  await until(() => gateway.servers.status("one")?.restarts === 1 && gateway.servers.isUsable("one"));
  await gateway.close();
  const ofOne = { "goblin.server.id": "one", "mcp.protocol.version": "2025-11-25", "network.transport": "pipe" };
  expect(labelsOf(collector.metrics, "mcp.client.session.duration")).toEqual([
    { ...ofOne, "error.type": "unavailable" },
    expect.objectContaining({ "goblin.server.id": expect.any(String) }),
    expect.objectContaining({ "goblin.server.id": expect.any(String) }),
  ]);
  expect(labelsOf(collector.metrics, "mcp.client.session.duration")).toEqual(
    expect.arrayContaining([
      ofOne,
      {
        "goblin.server.id": "web",
        "mcp.protocol.version": "2026-07-28",
        "network.transport": "tcp",
        "network.protocol.name": "http",
        "network.protocol.version": "1.1",
        "server.address": "127.0.0.1",
        "server.port": new URL(web.url).port,
      },
    ]),
  );
});

test("with metrics off, traces alone go to the collector", async () => {
  const collector = await startCollector();
  const server = await startScripted({ name: "one" });
  const { gateway, url } = await startGoblin(
    { mcpServers: { one: server.entry }, otel: { endpoint: collector.url } },
    { env: { ...process.env, OTEL_METRICS_EXPORTER: "none" } },
  );
  await callTool(url, { name: "one_add", arguments: { a: 1, b: 2 } });
  await gateway.close();
  expect(collector.spans).toHaveLength(2);
  expect(collector.metrics).toEqual([]);
});

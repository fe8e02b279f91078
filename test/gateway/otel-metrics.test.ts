/** The metrics for OpenTelemetry: their names, their labels, and what they count. */
import { afterEach, expect, test } from "vitest";
import { callTool, checkCollected, startCollector, valuesOf } from "../fixtures/collector.ts";
import type { Span } from "../fixtures/conventions.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";

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

/**
 * The collector of OpenTelemetry data: where the gateway finds it, and what becomes of the gateway
 * when it is slow, wrong or gone.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { connectV1 } from "../fixtures/clients.ts";
import { callTool, checkCollected, startCollector } from "../fixtures/collector.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose, startScripted } from "../fixtures/peers.ts";

afterEach(async () => {
  await disposeAll();
  checkCollected();
});

test("a collector that never answers does not hold up the end of the gateway", async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onDispose(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const server = await startScripted({ name: "one" });
  const { gateway, url, logs } = await startGoblin({
    mcpServers: { one: server.entry },
    otel: { endpoint: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` },
  });
  await callTool(url, { name: "one_add", arguments: { a: 1, b: 2 } });
  await gateway.close();
  // The exporter still waits for the collector.
  expect(logs.filter(({ msg }) => msg.includes("takes no data"))).toEqual([]);
});

test("a collector that refuses costs nothing but one line in the log for each signal", async () => {
  const collector = await startCollector(500);
  const server = await startScripted({ name: "one" });
  const { gateway, url, logs } = await startGoblin({
    mcpServers: { one: server.entry },
    otel: { endpoint: collector.url },
  });
  for (let i = 0; i < 3; i++)
    expect(await callTool(url, { name: "one_add", arguments: { a: 1, b: i } })).toContain("sum");
  await gateway.close();
  const lines = logs.filter(({ msg }) => msg.includes("takes no data"));
  expect(lines.map(({ extra }) => extra?.["endpoint"]).sort()).toEqual(
    ["metrics", "traces"].map((signal) => `${collector.url}/v1/${signal}`),
  );
});

test("the variables are those of the environment that the gateway was given", async () => {
  const collector = await startCollector();
  const server = await startScripted({ name: "one" });
  const { gateway, url } = await startGoblin(
    { mcpServers: { one: server.entry } },
    { env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } },
  );
  await callTool(url, { name: "one_add", arguments: { a: 1, b: 2 } });
  await gateway.close();
  expect(collector.spans).toHaveLength(2);
});

test("headers from the environment reach the collector, each signal's its own, and no log", async () => {
  const collector = await startCollector();
  const { gateway, logs, url } = await startGoblin(
    { mcpServers: {} },
    {
      env: {
        ...process.env,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20a-general-secret",
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: "authorization=Bearer%20a-secret-of-traces",
      },
    },
  );
  const { client } = await connectV1({ url });
  await client.callTool({ name: "a-secret-of-traces" }).catch(() => {});
  await gateway.close();
  expect(collector.headers.map(({ authorization }) => authorization).sort()).toEqual([
    "Bearer a-general-secret",
    "Bearer a-secret-of-traces",
  ]);
  expect(JSON.stringify(logs)).not.toMatch(/a-general-secret|a-secret-of-traces/);
});

test("a protocol that Goblin does not speak is a line in the log, and calls go on", async () => {
  const server = await startScripted({ name: "one" });
  const { logs, url } = await startGoblin(
    { mcpServers: { one: server.entry } },
    {
      env: {
        ...process.env,
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317",
        OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      },
    },
  );
  expect(await callTool(url, { name: "one_add", arguments: { a: 1, b: 2 } })).toContain("sum");
  expect(logs.filter(({ msg }) => msg.startsWith("OTEL_EXPORTER_OTLP_PROTOCOL asks for a protocol"))).toHaveLength(1);
});

test("a password in the collector's address reaches the collector, and no log", async () => {
  const collector = await startCollector();
  const { gateway, logs, url } = await startGoblin({
    mcpServers: {},
    otel: { endpoint: collector.url.replace("//", "//me:a%20pass-%25word@") },
  });
  const { client } = await connectV1({ url });
  await client.callTool({ name: "a pass-%word" }).catch(() => {});
  await client.callTool({ name: "a%20pass-%25word" }).catch(() => {});
  await gateway.close();
  expect(collector.spans).toHaveLength(2);
  expect(collector.headers[0]).toMatchObject({ authorization: "Basic bWU6YSBwYXNzLSV3b3Jk" });
  expect(JSON.stringify(logs)).not.toMatch(/a pass-%word|a%20pass-%25word|bWU6YSBwYXNzLSV3b3Jk/);
});

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Exporter, type ExporterState } from "../../../../src/observe/otel/exporter.ts";
import { otelSettings } from "../../../../src/observe/otel/settings.ts";
import type { Span } from "../../../../src/observe/otel/span.ts";
import { disposeAll, onDispose, until } from "../../../fixtures/peers.ts";

afterEach(disposeAll);

const span: Span = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  name: "tools/call",
  kind: 2,
  startTimeUnixNano: "1",
  endTimeUnixNano: "2",
  attributes: [],
  status: { code: 0 },
};

/** Starts a collector, and an exporter that sends each span on its own. */
async function start(env: Record<string, string> = {}) {
  const collector = { status: 200, hangs: false, cuts: false, most: 0, underWay: 0, taken: 0, mostSpans: Infinity };
  const server = createServer((request, response) => {
    collector.most = Math.max(collector.most, ++collector.underWay);
    let isOver = false;
    const over = () => {
      if (!isOver) collector.underWay--;
      isOver = true;
    };
    request.socket.on("close", over);
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      if (collector.hangs) return;
      if (collector.cuts) return request.socket.destroy();
      setImmediate(() => {
        const spans = JSON.parse(text).resourceSpans?.[0].scopeSpans[0].spans.length ?? 0;
        const status = spans > collector.mostSpans ? 413 : collector.status;
        if (status === 200) collector.taken += spans;
        over();
        response.writeHead(status, { connection: "close" }).end("{}");
      });
    });
  });
  const listen = (port = 0) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  await listen();
  onDispose(() => void stop());
  const { port } = server.address() as AddressInfo;
  const config = { endpoint: `http://127.0.0.1:${port}`, headers: {}, sample: 1, arguments: false };
  const sizes = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1", OTEL_BSP_MAX_QUEUE_SIZE: "10", ...env };
  const settings = otelSettings({ config, env: sizes, version: "1", warn: () => {} })!;
  const states: unknown[] = [];
  const onState = ({ problem, droppedSpans }: ExporterState) => void states.push({ problem, dropped: droppedSpans });
  const exporter = new Exporter({ settings, version: "1", onState });
  onDispose(() => exporter.close([], 0));
  return { collector, states, exporter, stop, again: () => listen(port) };
}

test("one request is under way at a time, no matter how often the queue is flushed", async () => {
  const { collector, exporter } = await start();
  for (let i = 0; i < 8; i++) exporter.add(span);
  await Promise.all([exporter.flush(), exporter.flush(), exporter.flush()]);
  expect(collector).toMatchObject({ taken: 8, most: 1 });
});

test("spans that were dropped are counted until the collector takes data again", async () => {
  const { collector, exporter, states } = await start();
  collector.status = 500;
  exporter.add(span);
  exporter.add(span);
  await exporter.flush();
  collector.status = 200;
  exporter.add(span);
  await exporter.flush();
  expect(states).toEqual([
    { problem: "the collector answered 500", dropped: 0 },
    { problem: undefined, dropped: 2 },
  ]);
});

test("a collector that is down at first gets data as soon as it is there", async () => {
  const { collector, exporter, states, stop, again } = await start();
  await stop();
  exporter.add(span);
  await exporter.flush();
  expect(states).toEqual([{ problem: expect.stringContaining("ECONNREFUSED"), dropped: 0 }]);
  await again();
  exporter.add(span);
  await exporter.flush();
  expect(collector.taken).toBe(1);
  expect(states[1]).toEqual({ problem: undefined, dropped: 1 });
});

test("a collector that hangs is given up after the timeout, and the queue does not grow", async () => {
  const { collector, exporter, states } = await start({ OTEL_EXPORTER_OTLP_TIMEOUT: "100" });
  collector.hangs = true;
  // One is under way, ten are queued.
  for (let i = 0; i < 1000; i++) exporter.add(span);
  const begun = performance.now();
  await exporter.flush();
  expect(performance.now() - begun).toBeLessThan(11 * 100 + 1000);
  expect(states).toEqual([{ problem: "no answer within 100 ms", dropped: 0 }]);
  collector.hangs = false;
  exporter.add(span);
  await exporter.flush();
  expect(states[1]).toEqual({ problem: undefined, dropped: 1000 });
});

test("a collector that closes its connections is one that takes no data", async () => {
  const { collector, exporter, states } = await start();
  collector.cuts = true;
  for (let i = 0; i < 3; i++) {
    exporter.add(span);
    await exporter.flush();
  }
  collector.cuts = false;
  exporter.add(span);
  await exporter.flush();
  expect(states).toEqual([
    { problem: expect.any(String), dropped: 0 },
    { problem: undefined, dropped: 3 },
  ]);
});

test("metrics do not pile up where the collector hangs", async () => {
  const { collector, exporter } = await start();
  collector.hangs = true;
  for (let i = 0; i < 20; i++) void exporter.sendMetrics([{}]);
  await until(() => collector.underWay === 1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(collector.most).toBe(1);
});

test("the end waits for a collector that hangs only so long, and leaves no request behind", async () => {
  const { collector, exporter, states } = await start();
  collector.hangs = true;
  for (let i = 0; i < 5; i++) exporter.add(span);
  void exporter.sendMetrics([{}]);
  // The collector never answers: an end that waited for it would not come.
  await exporter.close([{}], 100);
  await until(() => collector.underWay === 0);
  exporter.add(span);
  await exporter.flush();
  expect(collector.underWay).toBe(0);
  expect(states).toEqual([]);
});

test("a batch that is too large for the collector is sent in parts", async () => {
  const { collector, exporter, states } = await start({ OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "8" });
  collector.mostSpans = 3;
  for (let i = 0; i < 8; i++) exporter.add(span);
  await exporter.flush();
  expect(collector.taken).toBe(8);
  expect(states).toEqual([]);
  collector.mostSpans = 0;
  exporter.add(span);
  await exporter.flush();
  expect(states).toEqual([{ problem: "the collector answered 413", dropped: 0 }]);
});

test("one signal that fails says nothing about the other", async () => {
  const { collector, exporter, states } = await start();
  for (let i = 0; i < 3; i++) {
    collector.status = 500;
    await exporter.sendMetrics([{}]);
    collector.status = 200;
    exporter.add(span);
    await exporter.flush();
  }
  expect(states).toEqual([{ problem: "the collector answered 500", dropped: 0 }]);
});

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Exporter } from "../../../src/otel/exporter.ts";
import { otelSettings } from "../../../src/otel/settings.ts";
import type { Span } from "../../../src/otel/span.ts";
import { disposeAll, onDispose } from "../../fixtures/peers.ts";

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
async function start() {
  const collector = { status: 200, underWay: 0, most: 0, taken: 0 };
  const server = createServer((request, response) => {
    collector.most = Math.max(collector.most, ++collector.underWay);
    request.resume();
    request.on("end", () =>
      setImmediate(() => {
        collector.underWay--;
        collector.taken++;
        response.writeHead(collector.status).end("{}");
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onDispose(() => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1", OTEL_BSP_MAX_QUEUE_SIZE: "10" };
  const config = { endpoint, headers: {}, sample: 1, arguments: false };
  const settings = otelSettings({ config, env, version: "1", warn: () => {} })!;
  const states: unknown[] = [];
  const onState = (problem: string | undefined, dropped: number) => void states.push({ problem, dropped });
  return { collector, states, exporter: new Exporter({ settings, version: "1", onState }) };
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

/**
 * The routes that are loaded with the first request for them: a client that does not wait for that
 * is not served, and not remembered.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { until } from "../../fixtures/until.ts";

test("clients that went away before the routes were there are not served; the next one is", async () => {
  let load = () => {};
  const isTime = new Promise<void>((resolve) => {
    load = resolve;
  });
  // The module itself, later.
  vi.doMock("../../../src/front/http/app.ts", async (original) => {
    await isTime;
    return original();
  });
  vi.resetModules();
  onTestFinished(() => void vi.doUnmock("../../../src/front/http/app.ts"));
  onTestFinished(() => void vi.resetModules());
  const { SseFront } = await import("../../../src/front/legacy/sse.ts");
  const { disposeAll } = await import("../../fixtures/dispose.ts");
  const { startGoblin } = await import("../../fixtures/goblin.ts");
  onTestFinished(disposeAll);
  const served = vi.spyOn(SseFront.prototype, "get");
  const { origin, url, sseUrl } = await startGoblin({ mcpServers: {} });
  const early = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = connect(Number(new URL(origin).port), "127.0.0.1");
      await once(socket, "connect");
      return socket;
    }),
  );
  for (const socket of early) socket.write("GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n");
  for (const socket of early) socket.end().destroy();
  // The endpoint needs no routes. When it has answered, the gateway has seen the others leave.
  for (let i = 0; i < 3; i++) expect((await fetch(url, { method: "POST", body: "{" })).status).toBe(415);
  const stop = new AbortController();
  const next = fetch(sseUrl, { signal: stop.signal });
  load();
  expect((await next).status).toBe(200);
  stop.abort();
  const all = await Promise.all(["/health", "/ready", "/nothing"].map((path) => fetch(origin + path)));
  expect(all.map((answer) => answer.status)).toEqual([200, 200, 404]);
  await until(() => served.mock.calls.length === 1);
});

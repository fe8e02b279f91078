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
  let served = 0;
  // The module itself, later.
  vi.doMock("../../../src/front/http/routes/app.ts", async (original) => {
    await isTime;
    const { createApp } = await original<typeof import("../../../src/front/http/routes/app.ts")>();
    const counted: typeof createApp = (options) => {
      const { fetch, listener } = createApp(options);
      return {
        fetch,
        listener: (...request) => {
          served++;
          return listener(...request);
        },
      };
    };
    return { createApp: counted };
  });
  vi.resetModules();
  onTestFinished(() => void vi.doUnmock("../../../src/front/http/routes/app.ts"));
  onTestFinished(() => void vi.resetModules());
  const { disposeAll } = await import("../../fixtures/dispose.ts");
  const { startGoblin } = await import("../../fixtures/goblin.ts");
  onTestFinished(disposeAll);
  const { origin, url } = await startGoblin({ mcpServers: {} });
  const early = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = connect(Number(new URL(origin).port), "127.0.0.1");
      await once(socket, "connect");
      return socket;
    }),
  );
  for (const socket of early) socket.write("GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n");
  for (const socket of early) socket.end().destroy();
  // The endpoint needs no routes. When it has answered, the gateway has seen the others leave.
  for (let i = 0; i < 3; i++) expect((await fetch(url, { method: "POST", body: "{" })).status).toBe(415);
  const next = fetch(`${origin}/metrics`);
  load();
  expect((await next).status).toBe(200);
  const all = await Promise.all(["/health", "/ready", "/nothing"].map((path) => fetch(origin + path)));
  expect(all.map((answer) => answer.status)).toEqual([200, 200, 404]);
  await until(() => served === 2);
});

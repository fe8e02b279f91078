/**
 * The routes that are loaded with the first request for them: whoever does not wait for that is not
 * served, and not remembered.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { SseFront } from "../../../src/front/legacy/sse.ts";
import { disposeAll } from "../../fixtures/dispose.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { until } from "../../fixtures/until.ts";

afterEach(disposeAll);

test("clients that went away before the routes were there are not served; the next one is", async () => {
  const served = vi.spyOn(SseFront.prototype, "get");
  const { origin, sseUrl } = await startGoblin({ mcpServers: {} });
  const early = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = connect(Number(new URL(origin).port), "127.0.0.1");
      await once(socket, "connect");
      return socket;
    }),
  );
  for (const socket of early) socket.write("GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n");
  for (const socket of early) socket.end().destroy();
  const stop = new AbortController();
  const { status } = await fetch(sseUrl, { signal: stop.signal });
  expect(status).toBe(200);
  stop.abort();
  const all = await Promise.all(["/health", "/ready", "/nothing"].map((path) => fetch(origin + path)));
  expect(all.map((answer) => answer.status)).toEqual([200, 200, 404]);
  await until(() => served.mock.calls.length === 1);
});

/** A session whose end was answered stays ended, even if the gateway is killed right after. */
import { afterEach, expect, test } from "vitest";
import { disposeAll, rawHttp } from "../fixtures/peers.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";

afterEach(disposeAll);

test("an end that was answered holds after kill -9", async () => {
  const home = await serveHome({ mcpServers: {} });
  const first = await startServe(home);
  const ended = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const raw = rawHttp(first.url);
      await raw.initialize();
      return raw;
    }),
  );
  const living = rawHttp(first.url);
  await living.initialize();
  const answers = await Promise.all(ended.map((raw) => raw.delete()));
  first.signal("SIGKILL");
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(204));
  await first.exited;

  const second = await startServe(home);
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const statusOf = async (raw: typeof living): Promise<number> => {
    const again = rawHttp(second.url);
    Object.assign(again.headers, raw.headers);
    return (await again.post(ping)).status;
  };
  expect(await Promise.all(ended.map(statusOf))).toEqual(Array(10).fill(404));
  expect(await statusOf(living)).toBe(200);
});

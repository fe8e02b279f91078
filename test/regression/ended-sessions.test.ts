/**
 * The end of a session by its client: what the client gets, and that the end holds even if the
 * gateway is killed right after.
 */
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";
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

describe.each(["2025-03-26", "2025-06-18", "2025-11-25"])("a client of %s that leaves with calls open", (version) => {
  test("gets the answer to its DELETE first, and no answers to the calls (C4)", async () => {
    const one = await startScripted({ name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: one.entry } });
    const raw = rawHttp(goblin.url);
    await raw.initialize(version);
    const order: string[] = [];
    const call = (id: number, name: string, accept: string) =>
      raw
        .post(
          {
            jsonrpc: "2.0",
            id,
            method: "tools/call",
            params: { name: `one_${name}`, arguments: { ms: 60_000 + id }, _meta: { progressToken: id } },
          },
          { accept },
        )
        .then((answer) => {
          order.push(name);
          return answer;
        });
    const both = "application/json, text/event-stream";
    const calls = [call(1, "sleep", "application/json"), call(2, "sleep", both), call(3, "progress", both)];
    for (const id of [1, 2, 3]) await one.waitFor(({ message }) => message?.params?.arguments?.ms === 60_000 + id);
    const deleted = await raw.delete();
    order.push("DELETE");
    const answers = await Promise.all(calls);
    expect(deleted.status).toBe(204);
    expect(order[0]).toBe("DELETE");
    // Progress may have come; an answer has no method.
    expect(answers.flatMap(({ messages }) => messages.filter(({ method }) => !method))).toEqual([]);
    await until(async () => (await one.received("notifications/cancelled")).length === 3);
    expect((await raw.call("ping")).status).toBe(404);
  });
});

/** A hung server over HTTP costs the gateway a bounded number of sockets. */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { startHostile } from "../fixtures/hostile.ts";
import { disposeAll, rawHttp, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

test("calls to a hung server that are cancelled leave few sockets", async () => {
  const bad = await startHostile({
    methods: {
      "tools/list": () => ({ tools: [{ name: "hang", inputSchema: { type: "object" } }] }),
      "tools/call": () => undefined,
    },
  });
  const goblin = await startGoblin({ mcpServers: { bad: bad.entry } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const calls = () => bad.asked.filter(({ method }) => method === "tools/call").length;
  for (let id = 1000; id < 1060; id++) {
    const call = client.call("tools/call", { name: "bad_hang" }, id);
    await until(() => calls() === id - 999, { everyMs: 1 });
    await client.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    await call;
  }
  expect(calls()).toBe(60);
  await until(async () => (await bad.open()) < 10);
});

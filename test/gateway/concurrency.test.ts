/**
 * Many calls at once: every caller gets its own answer and its own progress, though ids and
 * progress tokens are the same for all.
 */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, rawHttp, type Scripted, startScripted } from "../fixtures/peers.ts";
import { isThorough } from "../fixtures/thorough.ts";

afterEach(disposeAll);

const transports = ["stdio", "stdio", "stdio", "stdio", "http", "http", "sse", "sse"] as const;

async function start(config: Record<string, unknown> = {}) {
  const backends = await Promise.all(transports.map((transport, i) => startScripted({ transport, name: `b${i}` })));
  const mcpServers = Object.fromEntries(backends.map((backend) => [backend.name, backend.entry]));
  return { backends, goblin: await startGoblin({ ...config, mcpServers }) };
}

async function violations(backends: readonly Scripted[]) {
  return (await Promise.all(backends.map((backend) => backend.events("violation")))).flat();
}

test("200 calls at once over 8 servers, from 4 clients with the same ids and tokens", async () => {
  const { backends, goblin } = await start();
  const clients = await Promise.all(
    [0, 1, 2, 3].map(async () => {
      const client = rawHttp(goblin.url);
      await client.initialize();
      return client;
    }),
  );
  const calls = clients.flatMap((client, c) =>
    Array.from({ length: 50 }, async (_, i) => {
      // 1 and "1" are different ids.
      const id = i % 2 === 0 ? i / 2 + 1 : String((i + 1) / 2);
      const server = (i + c) % 8;
      const text = `client ${c} call ${i}`;
      const slow = i % 5 === 0;
      const params = slow
        ? {
            name: `b${server}_progress`,
            arguments: { steps: 2, ms: 1 + (i % 7), who: text },
            _meta: { progressToken: i },
          }
        : { name: `b${server}_echo`, arguments: { text }, _meta: { progressToken: i } };
      const { messages } = await client.post({ jsonrpc: "2.0", id, method: "tools/call", params });
      const answer = messages.filter((message) => !("method" in message));
      expect(answer).toHaveLength(1);
      expect(answer[0].id).toBe(id);
      if (!slow) return expect(answer[0].result.structuredContent).toEqual({ text });
      expect(answer[0].result.content[0].text).toBe("progressed 2");
      const progress = messages.filter((message) => message.method === "notifications/progress");
      expect(progress.map(({ params: { progressToken, progress: n } }) => [progressToken, n])).toEqual([
        [i, 1],
        [i, 2],
      ]);
    }),
  );
  expect(calls).toHaveLength(200);
  await Promise.all(calls);
  expect(await violations(backends)).toEqual([]);
});

test.runIf(isThorough)("SDK clients of all transports at the same time", async () => {
  const { backends, goblin } = await start();
  const clients = await Promise.all([
    connectV1({ url: goblin.url }),
    connectV2({ url: goblin.url }),
    connectV1({ sseUrl: goblin.sseUrl }),
    connectV2({ sseUrl: goblin.sseUrl }),
  ]);
  const calls = clients.flatMap(({ client }, c) =>
    Array.from({ length: 40 }, async (_, i) => {
      const text = `client ${c} call ${i}`;
      const result = await client.callTool({ name: `b${(i + c) % 8}_echo`, arguments: { text } });
      expect(result["structuredContent"]).toEqual({ text });
    }),
  );
  await Promise.all(calls);
  expect(await violations(backends)).toEqual([]);
});

test("several large answers at once on one event stream all arrive", async () => {
  const backend = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: backend.entry } });
  const { client } = await connectV1({ sseUrl: goblin.sseUrl });
  const sizes = [3_000_000, 3_000_001, 3_000_002, 3_000_003];
  const results = await Promise.all(sizes.map((bytes) => client.callTool({ name: "one_big", arguments: { bytes } })));
  const texts = results.map(({ content }) => (content as { text: string }[])[0]!.text.length);
  expect(texts).toEqual(sizes);
});

test("a call that waits behind a busy server is answered in the end", async () => {
  const { goblin } = await start({ limits: { inFlightPerServer: 1, queuePerServer: 1 } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const sleeping = client.call("tools/call", { name: "b0_sleep", arguments: { ms: 300 } });
  const waiting = client.call("tools/call", { name: "b0_echo", arguments: { text: "waited" } });
  expect((await sleeping).message.result.content[0].text).toBe("slept 300");
  expect((await waiting).message.result.structuredContent).toEqual({ text: "waited" });
});

test("over the limit of a server calls wait, and beyond that they are refused while others are served", async () => {
  const { goblin } = await start({ limits: { inFlightPerServer: 3, queuePerServer: 5 } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const slow = Array.from({ length: 8 }, () => client.call("tools/call", { name: "b0_sleep", arguments: { ms: 150 } }));
  const other = await client.call("tools/call", { name: "b1_echo", arguments: { text: "free" } });
  expect(other.message.result.structuredContent).toEqual({ text: "free" });
  const messages = (await Promise.all(slow)).map(({ message }) => message);
  const refused = messages.filter(({ error }) => error);
  expect(messages.filter(({ result }) => result?.content[0].text === "slept 150")).toHaveLength(5);
  expect(refused).toHaveLength(3);
  expect(refused[0].error).toMatchObject({ code: -32010, data: { code: "LimitExceeded", serverId: "b0", limit: 5 } });
});

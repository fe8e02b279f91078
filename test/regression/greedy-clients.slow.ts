/**
 * What one client can make the gateway keep is bounded: by what it says of itself, by answers that
 * it has got or does not read, and by batches. Against a process of its own, with a heap that is
 * small enough to end it if anything is kept for each request.
 */
import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { bare, postText } from "../fixtures/bare.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";
import { type Served, serveHome, startServe } from "../fixtures/serve.ts";

afterEach(disposeAll);

const MB = 1024 * 1024;
const onLinux = process.platform === "linux";

async function serve(config: Record<string, unknown> = {}, heapMb = 200): Promise<Served> {
  const server = await startScripted({ name: "one", transport: "http" });
  const home = await serveHome({ mcpServers: { one: server.entry }, ...config });
  const served = await startServe(home, { NODE_OPTIONS: `--max-old-space-size=${heapMb}` });
  await until(async () => (await fetch(`${served.origin}/ready`)).status === 200);
  return served;
}

/** What the process has in memory. */
function residentBytes({ pid }: Served): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1024;
}

test("sessions whose clients say megabytes of themselves cost little", async () => {
  const served = await serve();
  const raw = rawHttp(served.url);
  const clientInfo = { name: "n".repeat(1.5 * MB), version: "v".repeat(MB), more: "m".repeat(MB) };
  const params = { protocolVersion: "2025-11-25", capabilities: { other: "c".repeat(MB / 4) }, clientInfo };
  for (let id = 1; id <= 45; id++) {
    const { status } = await raw.post({ jsonrpc: "2.0", id, method: "initialize", params });
    expect(status).toBe(200);
  }
  const capabilities = { extensions: { "com.example/x": "e".repeat(MB) } };
  const refused = await raw.call("initialize", { ...params, clientInfo: {}, capabilities });
  expect([refused.status, refused.message.error.code]).toEqual([400, -32602]);
});

test("answers that were delivered on event streams are not kept", async () => {
  const served = await serve();
  const raw = rawHttp(served.url);
  await raw.initialize();
  const params = { name: "one_big", arguments: { bytes: 8 * MB } };
  const headers = { ...raw.headers, accept: "text/event-stream", "content-type": "application/json" };
  for (let id = 1; id <= 28; id++) {
    const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
    const answer = await fetch(served.url, { method: "POST", headers, body });
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(8 * MB);
  }
});

test("a stream that broke before its answer is kept, and one that was delivered is not", async () => {
  const served = await serve();
  const raw = rawHttp(served.url);
  await raw.initialize();
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call" };
  const params = { name: "one_progress", arguments: { steps: 3, ms: 200 }, _meta: { progressToken: 1 } };
  const broken = await raw.stream({ body: { ...call, params } });
  await until(() => broken.events.length > 0);
  const last = broken.events.at(-1)!.id!;
  await broken.close();
  const resumed = await raw.stream({ verb: "GET", headers: { "last-event-id": last } });
  expect((await resumed.next((message) => message.id === 1)).result.content[0].text).toBe("progressed 3");
  await until(() => resumed.ended);
  // Once the connection has held for a while, there is nothing more to ask for.
  const isForgotten = async (): Promise<boolean> => {
    const again = await raw.stream({ verb: "GET", headers: { "last-event-id": last } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await again.close();
    return again.messages.length === 0;
  };
  await until(isForgotten, { everyMs: 1500 });
});

test.runIf(onLinux)("answers that nobody reads are bounded for a session", async () => {
  const served = await serve();
  const raw = rawHttp(served.url);
  await raw.initialize();
  const before = residentBytes(served);
  const params = { name: "one_big", arguments: { bytes: 20 * MB } };
  const accepts = ["application/json", "text/event-stream"];
  const sockets = [];
  for (let id = 1; id <= 18; id++) {
    const connection = await bare(served.url);
    connection.socket.pause();
    const headers = { ...raw.headers, accept: accepts[id % 2]! };
    connection.socket.write(
      postText("/mcp", headers, JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })),
    );
    sockets.push(connection);
    // One after the other, or the answers wait for each other in the server.
    await until(async () => (await calls(served)) >= id);
  }
  expect(await counted(served, 'mcpLimitsExceededTotal{limit="unreadBytes"}')).toBeGreaterThan(10);
  expect(residentBytes(served) - before).toBeLessThan(350 * MB);
  const { message } = await raw.call("tools/call", { name: "one_big", arguments: { bytes: MB } });
  expect(message.error.message).toBe(
    "LimitExceeded: this client has too much unread data (unreadBytes is 67108864); read the earlier answers first",
  );
  const small = await raw.call("tools/call", { name: "one_echo", arguments: { text: "small" } });
  expect(small.message.result.structuredContent).toEqual({ text: "small" });
  for (const { socket } of sockets) socket.destroy();
  await until(async () => (await raw.call("tools/call", params)).message?.result, { everyMs: 100 });
});

const lines = async (served: Served): Promise<string[]> =>
  (await (await fetch(`${served.origin}/metrics`)).text()).split("\n");
const counted = async (served: Served, start: string): Promise<number> =>
  (await lines(served))
    .filter((line) => line.startsWith(start))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
const calls = (served: Served): Promise<number> => counted(served, "mcpRequestsTotal{");

test("a batch of thousands is refused at once, and the gateway goes on", async () => {
  const served = await serve();
  const raw = rawHttp(served.url);
  await raw.initialize("2025-03-26");
  const batch = Array.from({ length: 20_000 }, (_, id) => ({ jsonrpc: "2.0", id, method: "tools/list" }));
  const { status, json } = await raw.post(batch);
  expect([status, json.error.data]).toMatchObject([413, { limit: 100, limitName: "batchMessages" }]);
  const { json: answers } = await raw.post(batch.slice(0, 100));
  expect(answers).toHaveLength(100);
  expect(answers[99].result.tools.length).toBeGreaterThan(5);
});

test("the messages of a batch are calls of their session, and its answers have a bound together", async () => {
  const server = await startScripted({ name: "one", transport: "http" });
  const limits = { inFlightPerSession: 3, unreadBytes: 1_000_000 };
  const goblin = await startGoblin({ mcpServers: { one: server.entry }, limits });
  const raw = rawHttp(goblin.url);
  await raw.initialize("2025-03-26");
  const batch = Array.from({ length: 5 }, (_, id) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "one_big", arguments: { bytes: 400_000 } },
  }));
  const { json } = await raw.post([...batch, { jsonrpc: "2.0", id: 5, method: "tools/list" }]);
  expect(json.map(({ id }: { id: number }) => id)).toEqual([0, 1, 2, 3, 4, 5]);
  const limitOf = (message: { error?: { data: { limitName: string } } }) => message.error?.data.limitName;
  const refused = json.map(limitOf);
  expect(refused.slice(3)).toEqual(Array(3).fill("inFlightPerSession"));
  expect(refused.slice(0, 3).toSorted()).toEqual(["unreadBytes", undefined, undefined]);
});

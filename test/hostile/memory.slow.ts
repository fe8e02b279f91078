/**
 * What one server sends, whatever it is, stays within the gateway's memory: the gateway runs as a
 * process with a small heap, which would end it if anything were kept that is not worth its bytes.
 * Another server is served all along.
 */
import { afterEach, expect, test } from "vitest";
import { deaf } from "../fixtures/deaf.ts";
import { type HostileOptions, startHostile, writeAgain } from "../fixtures/hostile.ts";
import { disposeAll, type RawHttp, rawHttp, startScripted, until } from "../fixtures/peers.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";

afterEach(disposeAll);

const SMALL_HEAP = { NODE_OPTIONS: "--max-old-space-size=128" };

/** A gateway with a small heap between a hostile server and an honest one. */
async function open(options: HostileOptions, config: Record<string, unknown> = {}) {
  const bad = await startHostile(options);
  const good = await startScripted({ name: "good" });
  const home = await serveHome({ mcpServers: { bad: bad.entry, good: good.entry }, ...config });
  const served = await startServe(home, SMALL_HEAP);
  const client = rawHttp(served.url);
  await client.initialize();
  const call = async (name: string, args: object = {}) =>
    (await client.call("tools/call", { name, arguments: args })).message;
  const goodWorks = async (): Promise<void> => {
    await until(async () => (await call("good_add", { a: 1, b: 2 })).result?.structuredContent?.sum === 3);
    expect(served.child.exitCode ?? served.child.signalCode).toBe(null);
  };
  return { bad, served, client, call, goodWorks };
}

function streamed(response: Parameters<NonNullable<HostileOptions["standing"]>>[0]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
}

test("empty data lines on the standing stream, many megabytes of them", async () => {
  let allRead = (): void => {};
  const sent = new Promise<void>((resolve) => {
    allRead = resolve;
  });
  const { goodWorks } = await open({
    standing: async (response) => {
      streamed(response);
      await writeAgain(response, "data:\n".repeat(20_000), 500);
      allRead();
    },
  });
  await sent;
  await goodWorks();
}, 300_000);

test.each([
  ["a JSON answer", "application/json"],
  ["an event stream", "text/event-stream"],
])("%s in pieces of one byte", async (_, type) => {
  let sent = false;
  const { client, call, goodWorks } = await open({
    methods: {
      "tools/list": () => ({ tools: [{ name: "drip", inputSchema: { type: "object" } }] }),
      "tools/call": async (_asked, response) => {
        const socket = response.socket!;
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`);
        await writeAgain(socket, "1\r\nx\r\n".repeat(15_000), 200);
        sent = true;
        socket.destroy();
        response.destroy();
      },
    },
  });
  await until(async () => (await client.call("tools/list", {})).text.includes("bad_drip"));
  const answer = await call("bad_drip");
  expect(sent).toBe(true);
  expect(answer.error.message).toContain("The connection broke");
  await goodWorks();
});

/**
 * Calls a tool of a server that does not answer with a megabyte, ten times at once, and cancels the
 * calls when they wait; again and again.
 */
async function cancelMany(client: RawHttp, origin: string, name: string): Promise<void> {
  const text = "x".repeat(1_000_000);
  const before = await underWay(origin, name);
  for (let round = 0; round < 15; round++) {
    const ids = Array.from({ length: 10 }, (_, i) => `${round}-${i}`);
    const calls = ids.map((id) =>
      client.post({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: { text: text + id } } }),
    );
    await until(async () => (await underWay(origin, name)) === before + ids.length);
    for (const id of ids)
      await client.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    await Promise.all(calls);
  }
}

/** How many calls the server of this tool has, sent or waiting. */
async function underWay(origin: string, tool: string): Promise<number> {
  const { items } = (await (await fetch(`${origin}/api/servers`)).json()) as {
    items: { id: string; inFlight: number; queue: number }[];
  };
  const { inFlight, queue } = items.find(({ id }) => tool.startsWith(`${id}_`))!;
  return inFlight + queue;
}

test("large calls that are cancelled while they wait for a place at a server that hangs", async () => {
  const listed = { "tools/list": () => ({ tools: [{ name: "hang", inputSchema: { type: "object" } }] }) };
  const hang = { ...listed, "tools/call": () => undefined };
  const { bad, client, served, goodWorks } = await open({ methods: hang }, { limits: { inFlightPerServer: 1 } });
  await until(async () => (await client.call("tools/list", {})).text.includes("bad_hang"));
  void client.call("tools/call", { name: "bad_hang" }).catch(() => {});
  await until(() => bad.asked.some(({ method }) => method === "tools/call"));
  await cancelMany(client, served.origin, "bad_hang");
  await goodWorks();
});

test("large calls that are cancelled before a program reads them", async () => {
  const good = await startScripted({ name: "good" });
  const { client, served, goodWorks } = await open({}, { mcpServers: { deaf, good: good.entry } });
  await until(async () => (await client.call("tools/list", {})).text.includes("deaf_listen"));
  await cancelMany(client, served.origin, "deaf_listen");
  await goodWorks();
});

test.each([
  ["tools of five megabytes", 5_000_000],
  ["tools of half a megabyte", 500_000],
])("an endless list of %s", async (_, size) => {
  let pages = 0;
  const padding = "x".repeat(size);
  const { served, goodWorks } = await open({
    methods: {
      "tools/list": () => ({
        tools: [{ name: `t${pages}`, description: padding, inputSchema: { type: "object" } }],
        nextCursor: String(++pages),
      }),
    },
  });
  await goodWorks();
  const reason = await until(async () => {
    const { items } = (await (await fetch(`${served.origin}/api/servers`)).json()) as {
      items: { serverId: string; reason?: string }[];
    };
    return items.find(({ reason }) => reason?.includes("catalogBytes"))?.reason;
  });
  expect(reason).toContain("tools/list");
  expect(pages).toBeLessThan(50);
});

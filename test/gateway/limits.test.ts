/**
 * Every limit, exceeded for real: what the client is told, and that `mcpLimitsExceededTotal` counts
 * that limit and no other. One row for each key of `limits` and for each fixed limit; a limit
 * without a row fails the first test.
 */
import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { fixedLimits } from "../../src/config/fixed.ts";
import { limitsSchema } from "../../src/config/schema/limits.ts";
import { bare, postText } from "../fixtures/bare.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";
import { stdioClient } from "../fixtures/stdio.ts";
import { variants } from "../fixtures/thorough.ts";
import { LEVEL_KEY, stateless } from "../matrix/stateless.ts";
import { counted, envelope, mirrored, type Row, rows, type Struck } from "./limit-rows.ts";

afterEach(disposeAll);

async function start(
  limits: Record<string, number>,
  { entry = {}, servers = {}, config = {} }: Pick<Row, "entry" | "servers" | "config"> = {},
): Promise<Struck> {
  // Over HTTP, so that questions of calls that run at once can be told apart.
  const server = await startScripted({ name: "one", transport: "http" });
  const mcpServers = { one: { ...server.entry, ...entry }, ...servers };
  return { server, goblin: await startGoblin({ mcpServers, limits, ...config }) };
}

test("every limit has a series from the start, and a row here and in the docs", async () => {
  const { goblin } = await start({});
  const none = Object.fromEntries(
    Object.keys(rows).map((limit) => [limit in limitsSchema.shape ? `limits.${limit}` : limit, 0]),
  );
  expect(await counted(goblin)).toEqual(none);
  const names = [...Object.keys(limitsSchema.shape), ...Object.keys(fixedLimits)];
  expect(names.sort()).toEqual(Object.keys(rows).sort());
  const docs = readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8");
  const section = docs.slice(docs.indexOf("\n## Limits\n")).split("\n## ", 2).join("");
  const listed = [...section.matchAll(/^\| `([\w.]+)` *\|/gm)].map(([, limit]) => limit);
  expect(listed.sort()).toEqual(Object.keys(none).sort());
});

test.each(Object.entries(rows))("%s", async (_, { limits, counts, strike, message, ...more }) => {
  const rig = await start(limits, more);
  const told = await strike(rig);
  if (message instanceof RegExp) expect(told).toMatch(message);
  else expect(told).toBe(message);
  const struck = Object.entries(await counted(rig.goblin)).filter(([, times]) => times > 0);
  expect(Object.fromEntries(struck)).toEqual(counts);
  const lines = rig.goblin.logs.filter(({ extra }) => extra?.["limit"] !== undefined);
  expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual(
    Object.keys(counts).map((limit) => `warn ${limit} was exceeded`),
  );
});

describe("limits that can be exceeded in several ways", () => {
  test("sessions: by streams of clients that have none", async () => {
    // Two of three: the share of one address.
    const { goblin } = await start({ sessions: 3 });
    const sse = await rawHttp(goblin.sseUrl).stream({ verb: "GET" });
    const endpoint = await until(() => sse.events[0]?.data);
    const listening = stateless(goblin.url);
    const listen = await listening.stream("subscriptions/listen", { notifications: { toolsListChanged: true } });
    const refused = await rawHttp(goblin.sseUrl).send({ verb: "GET" });
    expect([refused.status, refused.json.error.data]).toMatchObject([503, { limitName: "limits.sessions" }]);
    expect((await rawHttp(goblin.url).initialize()).status).toBe(503);
    const again = await listening.call("subscriptions/listen", { notifications: { toolsListChanged: true } });
    expect([again.status, again.message.error.data]).toMatchObject([503, { limitName: "limits.sessions" }]);
    expect((await counted(goblin))["limits.sessions"]).toBe(3);
    // A stream's own session takes the place that was held for it; the end of one gives it back.
    const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "sse", version: "1" } };
    await rawHttp(`${goblin.origin}${endpoint}`).post({ jsonrpc: "2.0", id: 7, method: "initialize", params });
    expect(await sse.next((message) => message.id === 7)).toHaveProperty("result");
    await listen.close();
    await until(async () => (await rawHttp(goblin.url).initialize()).status === 200);
    expect((await rawHttp(goblin.url).initialize()).status).toBe(503);
    await sse.close();
    await until(async () => (await rawHttp(goblin.url).initialize()).status === 200);
  });

  test("bodyBytes: at every door", async () => {
    const { goblin } = await start({ bodyBytes: 2000 });
    const large = JSON.stringify({ padding: "x".repeat(2000) });
    const stream = await rawHttp(goblin.sseUrl).stream({ verb: "GET" });
    const endpoint = await until(() => stream.events[0]?.data);
    expect((await rawHttp(`${goblin.origin}${endpoint}`).post(large)).status).toBe(413);
    const api = await rawHttp(`${goblin.origin}/api/reload`).post(large);
    expect([api.status, api.json]).toEqual([
      413,
      {
        error: {
          code: "TOO_LARGE",
          message:
            "LimitExceeded: the message is too large (limits.bodyBytes is 2000); send less at once, or raise the limit",
        },
      },
    ]);
    const onStdio = stdioClient(goblin.gateway);
    onStdio.input.write(`${large}\n`);
    expect(await onStdio.answer(null)).toMatchObject({ error: { code: -32010, data: { limit: 2000 } } });
    expect((await counted(goblin))["limits.bodyBytes"]).toBe(3);
  });

  test("resultBytes: over every transport; the server stays usable", async () => {
    for (const transport of variants<"stdio" | "sse" | "http">(["stdio", "http"], ["sse"])) {
      const server = await startScripted({ name: "one", transport });
      const goblin = await startGoblin({ mcpServers: { one: server.entry }, limits: { resultBytes: 100_000 } });
      const raw = rawHttp(goblin.url);
      await raw.initialize();
      const { message } = await raw.call("tools/call", { name: "one_big", arguments: { bytes: 200_000 } });
      expect(message.error.data).toMatchObject({ limit: 100_000, limitName: "resultBytes" });
      expect((await counted(goblin))["resultBytes"]).toBe(1);
      const small = await raw.call("tools/call", { name: "one_big", arguments: { bytes: 1000 } });
      expect(small.message.result.content[0].text).toHaveLength(1000);
    }
  });

  test("unreadBytes: on the stream of one request, and on stdout", async () => {
    const { goblin } = await start({ unreadBytes: 100, bodyBytes: 40_000_000 });
    // The message fills the connection of a client that does not read, so that the answer has to
    // wait.
    const args = { level: "error", text: "x".repeat(20_000_000) };
    const params = { name: "one_log", arguments: args, _meta: { ...envelope, [LEVEL_KEY]: "debug" } };
    const lazy = await bare(goblin.url);
    lazy.socket.pause();
    const headers = { ...mirrored, accept: "application/json, text/event-stream" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    lazy.socket.write(postText("/mcp", headers, body));
    await until(async () => (await counted(goblin))["unreadBytes"] === 1);
    lazy.socket.resume();
    await until(lazy.closed);
    expect(lazy.text()).not.toContain('"id":1');

    const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 10 })];
    const { closed } = goblin.gateway.stdio({ input, output });
    for (let id = 1; id <= 8; id++) input.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
    await closed;
    expect((await counted(goblin))["unreadBytes"]).toBe(2);
  });
});

describe("a client over its limit does not affect other clients", () => {
  const echo = { name: "one_echo", arguments: { text: "x" } };

  async function twoClients(limits: Record<string, number>) {
    const { goblin, server } = await start(limits);
    const [greedy, other] = [rawHttp(goblin.url), rawHttp(goblin.url)];
    await greedy.initialize();
    await other.initialize();
    return { server, greedy, other };
  }

  test("inFlightPerSession: the next call is refused until one ends", async () => {
    const { server, greedy, other } = await twoClients({ inFlightPerSession: 2 });
    const slow = [1, 2].map(() => greedy.call("tools/call", { name: "one_sleep", arguments: { ms: 500 } }));
    await until(async () => (await server.received("tools/call")).length === 2);
    const refused = await greedy.call("tools/call", echo);
    expect(refused.message.error).toMatchObject({ code: -32010, data: { code: "LimitExceeded", limit: 2 } });
    expect((await other.call("tools/call", echo)).message.result).toBeDefined();
    for (const { message } of await Promise.all(slow)) expect(message.result).toBeDefined();
    expect((await greedy.call("tools/call", echo)).message.result).toBeDefined();
  });

  test("callsPerSecond: refused with the time to wait", async () => {
    // So few that no call comes free while the test runs, however slow the machine is.
    const { greedy, other } = await twoClients({ callsPerSecond: 0.001 });
    expect((await greedy.call("tools/call", echo)).message.result).toBeDefined();
    const { error } = (await greedy.call("tools/call", echo)).message;
    expect(error.data.limit).toBe(0.001);
    expect(error.data.retryAfterMs).toBeGreaterThan(0);
    expect(error.data.retryAfterMs).toBeLessThanOrEqual(1_000_000);
    expect((await other.call("tools/call", echo)).message.result).toBeDefined();
  });
});

test("headerBytes: its default refuses headers above 16 kB with 431, and takes those below", async () => {
  const { goblin } = await start({});
  const answerTo = async (bytes: number): Promise<string> => {
    const { socket, text, closed } = await bare(goblin.url);
    socket.write(postText("/mcp", { "x-large": "x".repeat(bytes), connection: "close" }, "{}"));
    await until(closed);
    return text().split("\r\n", 1)[0]!;
  };
  expect(await answerTo(16_384)).toBe("HTTP/1.1 431 Request Header Fields Too Large");
  expect(await answerTo(15_000)).toMatch(/^HTTP\/1\.1 400 /);
});

/**
 * A client that lists once sees all tools, even if it comes while the servers start: the handshake
 * and the first lists wait for them, for a bounded time.
 */
import { afterEach, describe, expect, test } from "vitest";
import { commandHome, PROGRAM } from "../../fixtures/command.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { helloOf, stdioClient } from "../../fixtures/stdio.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

const SLOW = { start: { delayMs: 800 } };
const HANGING = { rules: [{ method: "initialize", do: "hang" }] };
const PATIENT = { lists: { waitMs: 60_000 } };

async function startSlow(config: Record<string, unknown> = PATIENT, script: Record<string, unknown> = SLOW) {
  const slow = await startScripted({ name: "slow", script });
  const goblin = await startGoblin({ mcpServers: { slow: slow.entry }, ...config }, { wait: false });
  return { slow, goblin };
}

describe("complete at the first time", () => {
  test.each(["url", "sseUrl"] as const)("for a client with a session (%s)", async (address) => {
    const { goblin } = await startSlow();
    const { client } = await connectV1({ [address]: goblin[address] });
    expect(client.getInstructions()).toContain("Instructions of slow");
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("slow_echo");
  });

  test("for a client without sessions, whatever it asks first", async () => {
    const first = ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"];
    const { goblin } = await startSlow();
    const client = stateless(goblin.url);
    const answers = await Promise.all(first.map((method) => client.call(method)));
    for (const [i, { text }] of answers.entries())
      expect([first[i], text]).toEqual([first[i], expect.stringContaining("slow")]);
  });

  test("for the modern SDK", async () => {
    const { goblin } = await startSlow();
    const { client } = await connectV2({ url: goblin.url, era: "modern" });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("slow_echo");
  });

  test("for a client that starts the gateway", async () => {
    const home = commandHome();
    const slow = await startScripted({ name: "slow", script: SLOW });
    const config = home.write("config.json", { mcpServers: { slow: slow.entry }, ...PATIENT });
    const args = [PROGRAM, "stdio", "--config", config];
    const { client } = await connectV1({ command: process.execPath, args, env: home.env as Record<string, string> });
    expect(client.getInstructions()).toContain("Instructions of slow");
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("slow_echo");
  });

  test("for a client that does not wait for the answer to its handshake, which comes before anything else", async () => {
    const { goblin } = await startSlow();
    const client = stdioClient(goblin.gateway);
    client.send(
      helloOf(1),
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/list" },
    );
    expect(JSON.stringify(await client.answer(2))).toContain("slow_echo");
    expect(client.messages()[0]).toMatchObject({ id: 1 });
  });

  test("for a model that searches or browses instead of listing", async () => {
    const { goblin } = await startSlow({ ...PATIENT, tools: { expose: "search" } });
    const client = stateless(goblin.url);
    const [found, browsed] = await Promise.all([
      client.call("tools/call", { name: "search_tools", arguments: { query: "echo" } }),
      client.call("tools/call", { name: "catalog_tools", arguments: {} }),
    ]);
    expect(found.text).toContain("slow_echo");
    expect(browsed.text).toContain("slow_echo");
  });
});

describe("bounded", () => {
  test("a server that never answers is not waited for longer than lists.waitMs, and only once", async () => {
    const hanging = await startScripted({ name: "hanging", script: HANGING });
    const quick = await startScripted({ name: "quick" });
    const config = { mcpServers: { hanging: hanging.entry, quick: quick.entry }, lists: { waitMs: 1500 } };
    const { gateway, url } = await startGoblin(config, { wait: false });
    const client = rawHttp(url);
    expect((await client.initialize()).message.result).toBeDefined();
    await until(() => gateway.servers.isUsable("quick"));
    // The other server is still connecting, and nobody waits for it any more.
    await until(() => gateway.servers.arrivals.firstLists(anyone) === undefined);
    expect((await client.call("tools/list")).text).toContain("quick_echo");
    expect(gateway.servers.status("hanging")?.state).toBe("connecting");
  });

  test("a server that has failed once is not waited for", async () => {
    const { gateway, url } = await startGoblin({ mcpServers: { gone: { command: "/no/such/program" } }, ...PATIENT });
    expect(gateway.servers.arrivals.firstLists(anyone)).toBeUndefined();
    expect((await rawHttp(url).initialize()).message.result).toBeDefined();
  });

  test("clients that read a changed list again wait less", async () => {
    const { goblin } = await startSlow({ lists: { waitMs: 3_600_000 } }, HANGING);
    const { client } = await connectV1({ url: goblin.url, name: "claude-code" });
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("slow_echo");
  });

  test("an account with many waiting requests is answered at once", async () => {
    const { goblin } = await startSlow({ lists: { waitMs: 3_600_000 } }, HANGING);
    const { servers } = goblin.gateway;
    for (let i = 0; i < 256; i++) expect(servers.arrivals.firstLists(anyone)).toBeInstanceOf(Promise);
    expect(servers.arrivals.firstLists(anyone)).toBeUndefined();
    expect(servers.arrivals.firstLists({ ...anyone, account: "other" })).toBeInstanceOf(Promise);
  });

  test("nobody waits for servers that are being closed", async () => {
    const { goblin } = await startSlow({ lists: { waitMs: 3_600_000 } }, HANGING);
    const waiting = goblin.gateway.servers.arrivals.firstLists(anyone);
    expect(waiting).toBeInstanceOf(Promise);
    await goblin.gateway.close();
    await waiting;
  });
});

const anyone = { account: "somebody", info: {}, visibility: undefined };

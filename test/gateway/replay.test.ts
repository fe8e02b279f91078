/**
 * Replays: a session of real clients is recorded, and what they got comes again byte for byte, over
 * stdio, over HTTP and behind a gateway. A request that was not recorded fails, and says what is
 * near.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { serveReplay } from "../../src/app/replay/http.ts";
import { Replay } from "../../src/app/replay/replay.ts";
import { exchangesOf } from "../../src/observe/recording/exchanges.ts";
import { framesOf } from "../../src/observe/recording/read.ts";
import { commandHome, PROGRAM } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, onDispose, rawHttp, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

type Client = Awaited<ReturnType<typeof connectV1>>["client"] | Awaited<ReturnType<typeof connectV2>>["client"];

/** What a client does. `prefix`: of the names, as this server has them. */
async function session(client: Client, prefix: string): Promise<string[]> {
  const uri = prefix === "" ? "text:///hello" : `${prefix.slice(0, -1)}+text:///hello`;
  const results: unknown[] = [
    await client.listTools(),
    await client.listPrompts(),
    await client.listResources(),
    await client.callTool({ name: `${prefix}echo`, arguments: { text: "grüße \u2028 <b>", value: [1, 2.5, null] } }),
    await client.callTool({ name: `${prefix}add`, arguments: { a: 1, b: 2 } }),
    await client.callTool({ name: `${prefix}tool_error`, arguments: {} }),
    await client
      .callTool({ name: `${prefix}fail`, arguments: { code: -32123 } })
      .catch((error: Error) => error.message.replace(/^MCP error -\d+: /, "")),
    await client.readResource({ uri }),
    await client.getPrompt({ name: `${prefix}greet`, arguments: { name: "Ada" } }),
    await client.callTool({ name: `${prefix}set_tools`, arguments: { tools: [], keep: true, silent: true } }),
  ];
  return results.map((result) => JSON.stringify(result));
}

async function recorded() {
  const dir = mkdtempSync(join(tmpdir(), "goblin-replay-"));
  onDispose(() => rmSync(dir, { recursive: true, force: true }));
  const server = await startScripted({ name: "one", tools: 1 });
  const goblin = await startGoblin({ mcpServers: { one: server.entry }, record: { dir } });
  return { dir, goblin };
}

test("a session of SDK clients, replayed byte for byte: stdio and HTTP", async () => {
  const { dir, goblin } = await recorded();
  const v1 = await connectV1({ url: goblin.url });
  const seen = await session(v1.client, "one_");
  const v2 = await connectV2({ url: goblin.url });
  expect(await session(v2.client, "one_")).toEqual(seen);
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  const body =
    '{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"one_raw","arguments":{"text":"{\\"content\\":[],\\"big\\":12345678901234567890, \\"n\\":1.0}"}}}';
  const before = (await raw.post(body)).text;
  await goblin.gateway.close();

  const again = await connectV1({ command: process.execPath, args: [PROGRAM, "replay", dir] });
  expect(await session(again.client, "one_")).toEqual(seen);
  const replay = new Replay(dir);
  const { server, url } = await serveReplay(replay, 0);
  onDispose(() => server.close());
  const http = await connectV2({ url });
  expect(await session(http.client, "one_")).toEqual(seen);
  const after = (await rawHttp(url).post(body)).text;
  expect(after).toBe(before.replace(/^[\s\S]*?data: |\s+$/g, ""));
  expect(after).toContain("12345678901234567890, ");

  // Every answer of the recording, in its bytes.
  const own = new Replay(dir);
  const all = exchangesOf(framesOf(dir)).filter(({ answer }) => answer !== undefined);
  expect(all.length).toBeGreaterThan(15);
  for (const { method, params, answer, ok } of all) {
    const messages = own.receive(`{"jsonrpc":"2.0","id":"x","method":${JSON.stringify(method)},"params":${params}}`);
    expect(messages.at(-1)).toBe(`{"jsonrpc":"2.0","id":"x","${ok ? "result" : "error"}":${answer}}`);
  }
});

test("one server of the recording as a backend of a gateway", async () => {
  const { dir, goblin } = await recorded();
  const { client } = await connectV1({ url: goblin.url });
  const seen = await session(client, "one_");
  await goblin.gateway.close();
  const entry = { command: process.execPath, args: [PROGRAM, "replay", dir, "--server", "one"] };
  const behind = await startGoblin({ mcpServers: { one: entry } });
  const again = await connectV1({ url: behind.url });
  expect(await session(again.client, "one_")).toEqual(seen);
});

test("progress comes again, under the token of the one who asks now", async () => {
  const { dir, goblin } = await recorded();
  const { client } = await connectV1({ url: goblin.url });
  const seen: unknown[] = [];
  await client.callTool({ name: "one_progress", arguments: { steps: 2 } }, undefined, {
    onprogress: (one) => seen.push(one),
  });
  expect(seen).toHaveLength(2);
  await goblin.gateway.close();
  const replay = new Replay(dir);
  const params = { name: "one_progress", arguments: { steps: 2 }, _meta: { progressToken: "mine" } };
  const messages = replay.receive(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
  expect(messages.map((text) => JSON.parse(text).params?.progressToken)).toEqual(["mine", "mine", undefined]);
  const quiet = { name: "one_progress", arguments: { steps: 2 } };
  expect(replay.receive(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: quiet }))).toHaveLength(
    1,
  );
});

test("equal requests get their answers in order, and unknown ones an error that names the nearest", async () => {
  const { dir, goblin } = await recorded();
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  await raw.call("tools/call", { name: "one_echo", arguments: { text: "a", value: { deep: [1, 2] } } });
  await raw.call("tools/call", { name: "one_fail", arguments: { password: "hunter2-hunter2" } });
  await goblin.gateway.close();
  const missed: string[] = [];
  const replay = new Replay(dir, { onMiss: (message) => missed.push(message) });
  const ask = (params: unknown, method = "tools/call") =>
    JSON.parse(replay.receive(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })).at(-1)!);
  // The order of members and `_meta` do not count.
  expect(
    ask({ _meta: { x: 1 }, arguments: { value: { deep: [1, 2] }, text: "a" }, name: "one_echo" }).result,
  ).toBeDefined();
  const near = ask({ name: "one_echo", arguments: { text: "b", value: { deep: [1, 3] } } });
  expect(near.error).toMatchObject({ code: -32602, data: { code: "NOT_RECORDED" } });
  expect(near.error.message).toContain('arguments.text: "a" → "b"; arguments.value.deep[1]: 2 → 3');
  expect(ask({ name: "one_ecko", arguments: {} }).error.message).toContain("the nearest is one_echo");
  expect(ask({}, "made/up").error).toMatchObject({ code: -32601 });
  expect(missed).toHaveLength(3);
  // A masked secret is not compared, and not in the recording.
  expect(ask({ name: "one_fail", arguments: { password: "another" } }).error.data?.code).not.toBe("NOT_RECORDED");
  expect(JSON.parse(replay.receive("{not json")[0]!).error.code).toBe(-32700);
  expect(replay.receive('{"jsonrpc":"2.0","method":"notifications/initialized"}')).toEqual([]);
});

test("over HTTP, no web page and no other host gets an answer", async () => {
  const { dir, goblin } = await recorded();
  await goblin.gateway.close();
  const { server, url } = await serveReplay(new Replay(dir), 0);
  onDispose(() => server.close());
  const raw = rawHttp(url);
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  expect((await raw.post(ping)).json.result).toEqual({});
  expect((await raw.post(ping, { origin: "https://evil.example" })).status).toBe(403);
  expect((await raw.send({ verb: "GET" })).status).toBe(405);
});

test("goblin replay --against shows what changed, and calls only what is marked as read-only", async () => {
  const { dir, goblin } = await recorded();
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  await raw.call("tools/call", { name: "one_echo", arguments: { text: "same" } });
  await raw.call("tools/call", { name: "one_tool_1", arguments: {} });
  await raw.call("resources/read", { uri: "one+text:///hello" });
  await raw.call("prompts/get", { name: "one_greet", arguments: { name: "Ada" } });
  await goblin.gateway.close();
  const home = commandHome();
  const same = await startScripted({ name: "one", tools: 1 });
  const config = home.write("goblin.json", { mcpServers: { one: same.entry } });
  const first = await home.goblin("replay", dir, "--against", "one", "--config", config);
  expect([first.code, first.out]).toEqual([0, expect.stringContaining("0 answers changed")]);
  expect(first.out).toContain("1 call not repeated, of tools that may change something; --all does");
  const all = await home.goblin("replay", dir, "--against", "one", "--config", config, "--all", "--json");
  expect(JSON.parse(all.out)).toMatchObject({ changed: [], skipped: { masked: 0, unsafe: 0 } });

  // Without one of the tools.
  const other = await startScripted({ name: "one" });
  const changed = home.write("other.json", { mcpServers: { one: other.entry } });
  const second = await home.goblin("replay", dir, "--against", "one", "--config", changed);
  expect(second.code).toBe(1);
  expect(second.out).toMatch(/tools\/list\n {2}tool_1: .* → nothing/);
  const none = await home.goblin("replay", dir, "--against", "two", "--config", config);
  expect([none.code, none.err]).toEqual([1, expect.stringContaining("its servers: one")]);
});

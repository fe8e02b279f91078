/**
 * Calls in full: what is kept of a call, who sees it, what is masked, and how much memory it may
 * take.
 */
import { afterEach, expect, test } from "vitest";
import { CallDetails, ServerDetails } from "../../src/admin/api/live/schema.ts";
import { parseConfig } from "../../src/config/reading/parse.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

const get = async (origin: string, path: string, token?: string) => {
  const response = await fetch(
    origin + path,
    token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
  );
  return { status: response.status, text: await response.text() };
};

async function lastCall(origin: string): Promise<CallDetails> {
  const { items } = JSON.parse((await get(origin, "/api/calls")).text) as { items: { requestId: string }[] };
  const { status, text } = await get(origin, `/api/calls/${items.at(-1)!.requestId}`);
  expect(status).toBe(200);
  return CallDetails.parse(JSON.parse(text));
}

async function start(more: Record<string, unknown> = {}) {
  const server = await startScripted({ name: "one" });
  const entry = { ...server.entry, env: { ...(server.entry as { env?: object }).env, API_KEY: "hush-hush-key" } };
  const goblin = await startGoblin({ mcpServers: { one: entry }, ...more });
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  return { goblin, raw, server };
}

test("a call in full: arguments, answer, error text, the server's part of the time", async () => {
  const { goblin, raw } = await start();
  await raw.call("tools/call", { name: "one_echo", arguments: { text: "hi", big: 1 } });
  const call = await lastCall(goblin.origin);
  expect(call).toMatchObject({
    name: "one_echo",
    outcome: "ok",
    params: { name: "one_echo", arguments: { text: "hi" } },
    paramsMasked: false,
    result: { content: [{ type: "text", text: '{"text":"hi","big":1}' }] },
  });
  const { beforeMs, serverMs, afterMs } = call.timing;
  expect(serverMs).toBeGreaterThan(0);
  expect(beforeMs! + serverMs! + afterMs!).toBeCloseTo(call.ms, 5);

  await raw.call("tools/call", { name: "one_fail", arguments: { code: -32123 } });
  const failed = await lastCall(goblin.origin);
  expect(failed.error).toMatchObject({ code: -32123 });
  expect(failed).not.toHaveProperty("result");
  await raw.call("tools/call", { name: "gone", arguments: {} });
  expect(await lastCall(goblin.origin)).toMatchObject({
    error: { data: { code: "TOOL_NOT_FOUND" } },
    timing: { beforeMs: null, serverMs: null, afterMs: null },
  });
});

test("secrets are masked in both directions, also those of an earlier config", async () => {
  const { goblin, raw } = await start();
  const text = "the key is hush-hush-key";
  await raw.call("tools/call", { name: "one_echo", arguments: { text, password: "pa55" } });
  const call = await lastCall(goblin.origin);
  expect(call).toMatchObject({ params: { arguments: { password: "***" } }, paramsMasked: true });
  expect(JSON.stringify(call)).not.toContain("hush-hush-key");
  const { config } = parseConfig('{ "mcpServers": {} }', { file: "test.json", env: {} });
  await goblin.gateway.reload(config).done;
  expect(JSON.stringify(await lastCall(goblin.origin))).not.toContain("hush-hush-key");
});

test("kept calls are limited in number and bytes, and none are kept if told", async () => {
  const { goblin, raw } = await start({ calls: { keep: 2, keepBytes: 80_000 } });
  for (const text of ["a", "b", "c"]) await raw.call("tools/call", { name: "one_echo", arguments: { text } });
  const { items } = JSON.parse((await get(goblin.origin, "/api/calls")).text);
  const found = await Promise.all(
    items.map((item: { requestId: string }) => get(goblin.origin, `/api/calls/${item.requestId}`)),
  );
  expect(found.map(({ status }) => status)).toEqual([404, 200, 200]);
  expect(found[0].text).toContain('the newest 2 are kept (\\"calls.keep\\")');
  await raw.call("tools/call", { name: "one_echo", arguments: { text: "x".repeat(20_000) } });
  expect(await lastCall(goblin.origin)).toMatchObject({ params: null, result: null });
  expect((await lastCall(goblin.origin)).answerBytes).toBeGreaterThan(20_000);

  const none = await start({ calls: { keep: 0 } });
  await none.raw.call("tools/call", { name: "one_echo", arguments: { text: "x" } });
  const [call] = JSON.parse((await get(none.goblin.origin, "/api/calls")).text).items;
  expect((await get(none.goblin.origin, `/api/calls/${call.requestId}`)).text).toContain("calls.keep");
});

test("a client's token opens neither calls nor server details", async () => {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({
    mcpServers: { one: server.entry },
    gateway: { auth: { tokens: ["client-token"] }, admin: { tokens: ["admin-token"] } },
  });
  for (const path of ["/api/calls", "/api/calls/x", "/api/servers/one", "/api/resources/updates?uri=x"]) {
    expect((await get(goblin.origin, path, "client-token")).status).toBe(403);
    expect((await get(goblin.origin, path, "admin-token")).status).not.toBe(403);
  }
});

test("a server's details: its command and stderr, no secret", async () => {
  const server = await startScripted({ name: "one" });
  const { command, args } = server.entry as { command: string; args: string[] };
  const goblin = await startGoblin({
    mcpServers: {
      one: { command, args: [...args, "--api-key", "k-1", "--token=t-1", "--plain"], env: { SECRET_THING: "v-12345" } },
      two: { url: "http://127.0.0.1:9/mcp/0123456789abcdef?key=q-12345", headers: { "X-Key": "h-12345" } },
      loud: {
        command: process.execPath,
        args: [
          "-e",
          "console.error('Error: no token v-99');console.error('    at foo');console.error('banner');process.exit(1)",
        ],
      },
    },
  });
  const details = async (id: string) =>
    ServerDetails.parse(JSON.parse((await get(goblin.origin, `/api/servers/${id}`)).text));
  const one = await details("one");
  expect(one).toMatchObject({ id: "one", command, env: ["SECRET_THING"], url: null, share: "auto" });
  expect(one.args.slice(-4)).toEqual(["--api-key", "***", "--token=***", "--plain"]);
  const two = await details("two");
  expect(two).toMatchObject({ url: "http://127.0.0.1:9/mcp/***?key=***", headers: ["X-Key"], command: null });
  expect(JSON.stringify([one, two])).not.toMatch(/v-12345|q-12345|h-12345|k-1|t-1/);
  await until(async () => (await details("loud")).stderr.length >= 3);
  expect((await details("loud")).stderr.slice(0, 3).map(({ level, msg }) => [level, msg])).toEqual([
    ["error", "Error: no token v-99"],
    ["error", "    at foo"],
    ["info", "banner"],
  ]);
  expect((await get(goblin.origin, "/api/servers/none")).status).toBe(404);
});

test("a server whose entry is not valid has no command and no address", async () => {
  const goblin = await startGoblin({
    mcpServers: {
      program: { command: "x", env: { KEY: "${env:GOBLIN_TEST_UNSET}" } },
      remote: { url: "http://127.0.0.1:9/mcp", headers: { "X-Key": "${env:GOBLIN_TEST_UNSET}" } },
    },
  });
  for (const id of ["program", "remote"]) {
    const { status, text } = await get(goblin.origin, `/api/servers/${id}`);
    expect(status).toBe(200);
    const nowhere = { command: null, args: [], cwd: null, env: [], url: null, headers: [] };
    expect(ServerDetails.parse(JSON.parse(text))).toMatchObject({ id, state: "invalid", ...nowhere });
  }
});

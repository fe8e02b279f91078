/**
 * A request for something of a server that is still starting waits for it, within its own time
 * limit: a client that comes back right after the gateway's start is told nothing false.
 */
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";
import { requestsOf } from "../gateway/offerings/rig.ts";
import { stateless } from "../matrix/stateless.ts";

afterEach(disposeAll);

const SLOW = { start: { delayMs: 800 } };
const SLOWER = { start: { delayMs: 2500 } };
const HANGING = { rules: [{ method: "initialize", do: "hang" }] };
const ref = { type: "ref/resource", uri: "slow+item://{kind}/{id}" };
const requests: [method: string, params: Record<string, unknown>][] = [
  ["tools/call", { name: "slow_echo", arguments: { text: "x" } }],
  ["tools/call", { name: "call_tool", arguments: { name: "slow_echo", arguments: { text: "x" } } }],
  ["tools/call", { name: "describe_tool", arguments: { name: "slow_echo" } }],
  ["tools/call", { name: "describe_prompt", arguments: { name: "slow_greet" } }],
  ["tools/call", { name: "describe_resource", arguments: { uri: "slow+text:///hello" } }],
  ["prompts/get", { name: "slow_greet", arguments: { name: "you" } }],
  ["resources/read", { uri: "slow+text:///hello" }],
  ["resources/read", { uri: "slow_text___hello" }],
  ["resources/read", { uri: "slow+item://book/1" }],
  ["resources/subscribe", { uri: "slow+text:///hello" }],
  ["completion/complete", { ref, argument: { name: "kind", value: "" } }],
];
const metaTools = { enabled: ["call_tool", "describe_tool", "describe_prompt", "describe_resource"] };

async function startSlow(script: Record<string, unknown>, config: Record<string, unknown> = {}) {
  const slow = await startScripted({ name: "slow", script });
  const goblin = await startGoblin({ mcpServers: { slow: slow.entry }, metaTools, ...config }, { wait: false });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const { servers, catalog } = goblin.gateway;
  /** Nobody listens for new snapshots any more but those who always do. */
  const waits = () => catalog.listenerCount("snapshot") > 0;
  return { slow, goblin, client, servers, waits };
}

describe("right after the start", () => {
  test.each(["prefixed", "raw"])("everything of the server is waited for, %s URIs", async (uris) => {
    const { client, servers, waits } = await startSlow(SLOW, { resources: { uris } });
    const answers = await Promise.all(requests.map(([method, params]) => client.call(method, params)));
    for (const [i, { message }] of answers.entries()) {
      expect([requests[i], message.error]).toEqual([requests[i], undefined]);
    }
    expect(servers.status("slow")?.state).toBe("ready");
    expect(waits()).toBe(false);
  });

  test("a raw URI that is listed as it is, and a name without a prefix", async () => {
    const slow = await startScripted({ name: "slow", script: SLOW });
    const config = { mcpServers: { slow: { ...slow.entry, prefix: "" } }, resources: { uris: "raw" } };
    const client = rawHttp((await startGoblin(config, { wait: false })).url);
    await client.initialize();
    const [read, called] = await Promise.all([
      client.call("resources/read", { uri: "text:///hello" }),
      client.call("tools/call", { name: "echo", arguments: { text: "x" } }),
    ]);
    expect([read.message.error, called.message.error]).toEqual([undefined, undefined]);
  });

  test("a client without sessions, by call and by listening", async () => {
    const { goblin, slow, waits } = await startSlow(SLOW);
    const client = stateless(goblin.url);
    const uri = "slow+text:///hello";
    const [called, stream] = await Promise.all([
      client.call("tools/call", { name: "slow_echo", arguments: { text: "x" } }),
      client.stream("subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } }),
    ]);
    expect(called.message.result).toMatchObject({ structuredContent: { text: "x" } });
    const acknowledged = await stream.next((m) => m.method === "notifications/subscriptions/acknowledged");
    expect(acknowledged.params.notifications).toEqual({ resourceSubscriptions: [uri] });
    await slow.control("touch", { uri: "text:///hello" });
    await stream.next((m) => m.method === "notifications/resources/updated");
    expect(waits()).toBe(false);
  });

  test("a stream that is closed meanwhile: nobody waits any more", async () => {
    const { goblin, waits } = await startSlow(HANGING);
    const params = { notifications: { resourceSubscriptions: ["slow+text:///hello"] } };
    const listening = stateless(goblin.url).begin("subscriptions/listen", params);
    await until(waits, { what: "the waiting" });
    listening.breakOff();
    await until(() => !waits(), { what: "the end of the waiting" });
  });

  test("the server is there but does not have it: not found, and it was asked nothing", async () => {
    const { client, slow } = await startSlow(SLOW);
    const { message } = await client.call("tools/call", { name: "slow_nothing", arguments: {} });
    expect(message.error).toMatchObject({ code: -32602, data: { code: "TOOL_NOT_FOUND" } });
    expect(await requestsOf(slow)).toEqual([]);
  });

  test("the server does not come up: unavailable", async () => {
    const { client, waits } = await startSlow({ start: { delayMs: 300, crash: 3 } });
    const { message } = await client.call("tools/call", { name: "slow_echo", arguments: { text: "x" } });
    const data = { code: "BACKEND_UNAVAILABLE", serverId: "slow", retryAfterMs: expect.any(Number) };
    expect(message.error).toMatchObject({ code: -32011, data });
    expect(waits()).toBe(false);
  });

  test("the tool's own time limit runs out: unavailable, and the server never hears of it", async () => {
    const slow = await startScripted({ name: "slow", script: SLOWER });
    const tools = { overrides: { echo: { timeoutMs: 100, alias: "say" } } };
    const goblin = await startGoblin({ mcpServers: { slow: { ...slow.entry, tools } } }, { wait: false });
    const client = rawHttp(goblin.url);
    await client.initialize();
    const call = (name: string) => client.call("tools/call", { name, arguments: { text: "x" } });
    for (const { message } of await Promise.all([call("slow_echo"), call("slow_say")])) {
      expect(message.error).toMatchObject({ code: -32011, data: { serverId: "slow", reason: "starting" } });
    }
    await goblin.gateway.start();
    expect(await requestsOf(slow)).toEqual([]);
  });

  test("cancelled meanwhile: nobody waits any more, and the server never hears of it", async () => {
    const { client, slow, goblin, waits } = await startSlow(SLOWER);
    const stream = client.stream({
      body: { jsonrpc: "2.0", id: "c", method: "tools/call", params: { name: "slow_echo", arguments: { text: "x" } } },
    });
    stream.catch(() => {});
    await until(waits, { what: "the waiting" });
    await client.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "c" } });
    await until(() => !waits(), { what: "the end of the waiting" });
    await goblin.gateway.start();
    expect(await requestsOf(slow)).toEqual([]);
  });

  test("the session ends meanwhile: nobody waits any more", async () => {
    const { client, waits } = await startSlow(HANGING);
    const waiting = requests.map(([method, params]) => client.call(method, params).catch(() => undefined));
    await until(waits, { what: "the waiting" });
    await client.delete();
    await until(() => !waits(), { what: "the end of the waiting" });
    await Promise.all(waiting);
  });

  test("the gateway ends meanwhile: everybody is answered", async () => {
    const { client, goblin, waits } = await startSlow(HANGING);
    const waiting = client.call("tools/call", { name: "slow_echo", arguments: {} }).catch(() => undefined);
    await until(waits, { what: "the waiting" });
    await goblin.gateway.close();
    expect(waits()).toBe(false);
    await waiting;
  });

  test("one client may not wait more often than it may call", async () => {
    const { client } = await startSlow(HANGING, { limits: { inFlightPerSession: 2 }, timeouts: { callMs: 500 } });
    const uris = ["slow+a:1", "slow+a:2", "slow+a:3"];
    const answers = await Promise.all(uris.map((uri) => client.call("resources/subscribe", { uri })));
    const codes = answers.map(({ message }) => message.error.data.code).sort();
    expect(codes).toEqual(["BACKEND_UNAVAILABLE", "BACKEND_UNAVAILABLE", "LimitExceeded"]);
  });
});

test("enabled while the gateway runs: waited for from then on", async () => {
  const slow = await startScripted({ name: "slow", script: SLOW });
  const goblin = await startGoblin({ mcpServers: { slow: { ...slow.entry, enabled: false } } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const call = () => client.call("tools/call", { name: "slow_echo", arguments: { text: "x" } });
  expect((await call()).message.error.data.code).toBe("TOOL_NOT_FOUND");
  const enabled = rawHttp(`${goblin.origin}/api/servers/slow/enable`).post({});
  await until(() => goblin.gateway.snapshot().standing("slow").kind === "starting", { what: "the start" });
  expect((await call()).message.error).toBeUndefined();
  await enabled;
});

describe("methods of extensions", () => {
  const found = { rules: [{ method: "acme/search", do: "result", result: { hits: 3 } }] };
  const acme = { capabilities: { extensions: { "com.example/acme": {} } } };

  test("wait for servers that may offer them", async () => {
    const { client, goblin, waits } = await startSlow({ ...SLOW, ...found, ...acme });
    const bare = stateless(goblin.url);
    const answers = [client.call("acme/search", { query: "x" }), bare.call("acme/search", { query: "x" })];
    for (const { message } of await Promise.all(answers)) expect(message.result).toMatchObject({ hits: 3 });
    expect(waits()).toBe(false);
  });

  test("are not found when all servers have started without them", async () => {
    const { client, goblin, waits } = await startSlow(SLOW);
    const answers = [client.call("acme/search"), client.call("tasks/list"), stateless(goblin.url).call("acme/search")];
    // The only server may be asked itself; then the answer is its own.
    for (const { message } of await Promise.all(answers)) expect(message.error).toMatchObject({ code: -32601 });
    expect(waits()).toBe(false);
  });

  test("the list of tasks waits, too", async () => {
    const { client } = await startSlow({ ...SLOW, capabilities: { tasks: { list: {} } } });
    expect((await client.call("tasks/list")).message.result).toEqual({ tasks: [] });
  });

  test("wait no longer than a call may take", async () => {
    const { client, goblin, waits } = await startSlow(HANGING, { timeouts: { callMs: 300 } });
    const answers = [client.call("acme/search"), client.call("tasks/list"), stateless(goblin.url).call("acme/search")];
    for (const { message } of await Promise.all(answers)) {
      expect(message.error).toMatchObject({ code: -32011, data: { code: "BACKEND_UNAVAILABLE", reason: "starting" } });
    }
    expect(waits()).toBe(false);
  });
});

test("a server whose list could not be fetched yet: unavailable with the reason, and there when it could", async () => {
  const failing = { rules: [{ method: "tools/list", do: "error", code: -32603, message: "not yet", times: 1 }] };
  const slow = await startScripted({ name: "slow", script: failing });
  const goblin = await startGoblin({ mcpServers: { slow: slow.entry } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const call = async () => (await client.call("tools/call", { name: "slow_echo", arguments: { text: "x" } })).message;
  expect((await call()).error).toMatchObject({
    code: -32011,
    message: 'Server "slow" is unavailable: its lists could not be fetched yet',
    data: { code: "BACKEND_UNAVAILABLE", serverId: "slow", retryAfterMs: expect.any(Number) },
  });
  await until(() => goblin.gateway.snapshot().standing("slow").kind === "known", { what: "the next fetch" });
  expect((await call()).error).toBeUndefined();
  const { error } = (await client.call("tools/call", { name: "slow_nothing", arguments: {} })).message;
  expect(error.data.code).toBe("TOOL_NOT_FOUND");
});

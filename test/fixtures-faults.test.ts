/**
 * The faults of the scripted server: that each does what it is named for, so that a gateway which survives it has survived something.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import {
  connectV1,
  connectV2,
  disposeAll,
  onDispose,
  rawHttp,
  type Scripted,
  startScripted,
  until,
} from "./fixtures/peers.ts";

afterEach(disposeAll);

function targetOf(server: Scripted) {
  if (server.url === "") return { command: server.command, args: server.args };
  return server.url.endsWith("/sse") ? { sseUrl: server.url } : { url: server.url };
}

/** The server's process with bare pipes; what it has written so far is `out()`. */
function bare(server: Scripted) {
  const child = spawn(server.command, server.args, { stdio: ["pipe", "pipe", "pipe"] });
  onDispose(() => child.kill("SIGKILL"));
  let text = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const initialize = () => {
    say({
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "b" } },
    });
    say({ method: "notifications/initialized" });
  };
  return { child, out: () => text, err: () => stderr, say, initialize };
}

describe("faults", () => {
  const echo = { name: "echo", arguments: { text: "hi" } };

  it("crashes at the first start only", async () => {
    const server = await startScripted({ script: { start: { crash: 3, crashTimes: 1 } } });
    await expect(connectV1(targetOf(server))).rejects.toThrow();
    await server.waitFor((record) => record.event === "exit" && record.code === 3);
    const { client } = await connectV1(targetOf(server));
    expect(await client.callTool(echo)).toMatchObject({ structuredContent: { text: "hi" } });
  });

  it.each([
    ["crash", "Connection closed"],
    ["drop", "Connection closed"],
    ["closeMidway", "Connection closed"],
    ["hang", "timed out"],
    ["half", "timed out"],
    ["wrongId", "timed out"],
    ["invalidJson", "timed out"],
    ["error", "scripted error"],
  ])("does %s during a call over stdio", async (fault, message) => {
    const server = await startScripted({
      script: { rules: [{ method: "tools/call", name: "echo", skip: 1, do: fault }] },
    });
    const { client } = await connectV1(targetOf(server));
    await client.callTool(echo);
    await expect(client.callTool(echo, undefined, { timeout: 300 })).rejects.toThrow(message);
    expect(await server.events("fault")).toHaveLength(1);
  });

  it("answers late, twice, hugely, and with a flood", async () => {
    const rules = ["late", "twice", "huge", "flood"].map((fault) => ({
      method: "tools/call",
      name: "echo",
      times: 1,
      do: fault,
    }));
    const server = await startScripted({ script: { rules } });
    const { client, notifications, errors } = await connectV1(targetOf(server));
    for (const _rule of rules) expect(await client.callTool(echo)).toMatchObject({ structuredContent: { text: "hi" } });
    expect(notifications.filter((n) => n.method === "notifications/tools/list_changed")).toHaveLength(100);
    expect(errors).toHaveLength(1);
    expect((await server.events("fault")).map((record) => record.rule.do)).toEqual(["late", "twice", "huge", "flood"]);
  });

  it("answers HTTP statuses, loses sessions, and comes back on its port", async () => {
    const server = await startScripted({ transport: "http" });
    const raw = rawHttp(server.url);
    server.setScript({ rules: [{ method: "*", times: 2, do: "status", status: 503, retryAfter: 7 }] });
    const refused = await raw.call("initialize", {});
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "7"]);
    expect((await raw.call("initialize", {})).status).toBe(503);
    await raw.initialize();
    expect(await raw.call("tools/call", echo)).toMatchObject({ status: 200, json: { result: {} } });
    server.setScript({ http: { framing: "sse" } });
    expect((await raw.call("tools/call", echo)).events).toHaveLength(1);
    server.setScript({ http: { dropSessionAfter: 3 } });
    expect((await raw.call("tools/call", echo)).status).toBe(404);
    await server.restart();
    expect((await raw.initialize()).message.result.serverInfo.version).toBe("1.2.3");
  });

  it("has no subscriptions, or refuses them", async () => {
    const script = { capabilities: { resources: { subscribe: null } } };
    const server = await startScripted({ script });
    const { client } = await connectV1(targetOf(server));
    expect(client.getServerCapabilities()?.resources).toEqual({ listChanged: true });
    await client.close();
    server.setScript({ rules: [{ method: "resources/subscribe", do: "error", code: -32050, message: "No" }] });
    const again = await connectV1(targetOf(server));
    await expect(again.client.subscribeResource({ uri: "text:///hello" })).rejects.toMatchObject({ code: -32050 });
  });

  it("returns raw JSON text byte for byte", async () => {
    const text = '{"content":[], "big":12345678901234567890, "e":1e2}';
    const params = { name: "raw", arguments: { text } };
    const server = await startScripted({ transport: "http" });
    const raw = rawHttp(server.url);
    await raw.initialize();
    expect((await raw.call("tools/call", params, "x")).text).toBe(`{"jsonrpc":"2.0","id":"x","result":${text}}`);
    const { out, say, initialize } = bare(await startScripted());
    initialize();
    say({ id: 7, method: "tools/call", params });
    await until(() => out().includes(`{"jsonrpc":"2.0","id":7,"result":${text}}\n`));
  });

  it("writes garbage before the handshake, to stderr, and in the middle", async () => {
    const server = await startScripted({ script: { start: { garbage: "Welcome!", stderr: "warming up" } } });
    const { out, err, say, initialize } = bare(server);
    initialize();
    await until(() => out().includes('"id":0'));
    say({ id: 1, method: "tools/call", params: { name: "garbage", arguments: { text: "?!\n" } } });
    await until(() => out().includes('"id":1'));
    expect(out()).toMatch(/^Welcome!\n\{.*\}\n\?!\n\{.*\}\n$/);
    await until(() => err() === "warming up\n");
  });

  it("is stubborn and has a child of its own", async () => {
    const server = await startScripted({ script: { start: { stubborn: true, grandchild: true } } });
    const { child, initialize } = bare(server);
    initialize();
    const { child: grandchild } = await server.waitFor((record) => record.event === "grandchild");
    await server.waitFor((record) => record.event === "initialized");
    child.stdin.end();
    await server.waitFor((record) => record.event === "close");
    child.kill("SIGTERM");
    await server.waitFor((record) => record.event === "signal");
    expect(child.exitCode).toBeNull();
    expect(process.kill(grandchild, 0)).toBe(true);
    process.kill(grandchild, "SIGKILL");
    const exit = once(child, "exit");
    await server.kill();
    expect((await exit)[1]).toBe("SIGKILL");
  });

  it.each([
    ["half", { framing: "json" }, "hangs"],
    ["half", { framing: "sse" }, "hangs"],
    ["closeMidway", { framing: "json" }, "breaks"],
    ["closeMidway", { framing: "sse" }, "breaks"],
    ["drop", {}, "breaks"],
    ["hang", {}, "hangs"],
  ])("does %s over HTTP with %j: it %s", async (fault, http, effect) => {
    const server = await startScripted({ transport: "http", script: { http } });
    const raw = rawHttp(server.url);
    await raw.initialize();
    server.setScript({ http, rules: [{ method: "tools/call", do: fault }] });
    const outcome = raw.call("tools/call", echo).then(
      () => "answers",
      () => "breaks",
    );
    const patience = new Promise((resolve) => setTimeout(resolve, 300, "hangs"));
    expect(await Promise.race([outcome, patience])).toBe(effect);
  });

  it("spoils answers over HTTP: twice, wrong id, invalid, empty, lost session", async () => {
    const rules = ["twice", "wrongId", "invalidJson", "empty", "loseSession"].map((fault) => ({
      method: "tools/call",
      times: 1,
      do: fault,
    }));
    const server = await startScripted({ transport: "http", script: { rules } });
    const raw = rawHttp(server.url);
    await raw.initialize();
    expect((await raw.call("tools/call", echo, 1)).messages.map((m) => m.id)).toEqual([1, 1]);
    expect((await raw.call("tools/call", echo, 2)).messages.map((m) => m.id)).toEqual(["not-2"]);
    const invalid = await raw.call("tools/call", echo, 3);
    expect([invalid.status, invalid.json, invalid.text.length > 0]).toEqual([200, undefined, true]);
    expect(await raw.call("tools/call", echo, 4)).toMatchObject({ status: 200, text: "" });
    expect((await raw.call("tools/call", echo, 5)).status).toBe(404);
    expect((await raw.call("tools/call", echo, 6)).status).toBe(404);
  });

  it("does without sessions, without a GET stream, with a token", async () => {
    const http = { noSession: true, noGet: true, token: "secret" };
    const server = await startScripted({ transport: "http", script: { http } });
    await expect(connectV1(targetOf(server))).rejects.toThrow();
    const { client } = await connectV1({ ...targetOf(server), headers: { authorization: "Bearer secret" } });
    expect(await client.callTool(echo)).toMatchObject({ structuredContent: { text: "hi" } });
    expect((await server.events("http")).some((record) => record.headers["mcp-session-id"])).toBe(false);
  });

  it.each(["http", "sse"] as const)("closes the stream of an %s client, which comes back or not", async (transport) => {
    const server = await startScripted({ transport });
    const { client, errors } = await connectV1(targetOf(server));
    if (transport === "http") await server.waitFor((record) => record.event === "get-stream");
    await client.callTool({ name: "close_streams" });
    if (transport === "http") await until(async () => (await server.events("get-stream")).length === 2);
    else await until(() => errors.length > 0);
  });

  it("floods, answers a status over SSE, and refuses a stream", async () => {
    const server = await startScripted({ transport: "sse", script: { flood: { kind: "message", count: 50 } } });
    const { client, notifications } = await connectV1(targetOf(server));
    await until(() => notifications.length === 50);
    server.setScript({
      rules: [
        { method: "tools/call", do: "status", status: 429 },
        { method: "GET", do: "status", status: 500 },
      ],
    });
    await expect(client.callTool(echo)).rejects.toThrow("429");
    await expect(connectV1(targetOf(server))).rejects.toThrow("500");
  });

  it("says which capability a modern client lacks", async () => {
    const server = await startScripted({ transport: "http", era: "modern" });
    const { client } = await connectV2({ ...targetOf(server), era: "modern" });
    await expect(client.callTool({ name: "ask", arguments: { kind: "roots" } })).rejects.toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { roots: {} } },
    });
  });

  it.each(["stdio", "http"] as const)("ends modern subscriptions abruptly over %s", async (transport) => {
    const server = await startScripted({ transport, era: "modern", script: { listen: { closeAfterMs: 50 } } });
    const { client } = await connectV2({ ...targetOf(server), era: "modern" });
    expect(await (await client.listen({ toolsListChanged: true })).closed).toBe("remote");
    server.setScript({ listen: { closeAfterMs: 50, graceful: true } });
    expect(await (await client.listen({ toolsListChanged: true })).closed).toBe("graceful");
  });

  it("exits on command and between calls", async () => {
    const server = await startScripted({
      script: { rules: [{ method: "tools/call", do: "crashAfter", code: 9, onStart: 1 }] },
    });
    const first = await connectV1(targetOf(server));
    expect(await first.client.callTool(echo)).toMatchObject({ structuredContent: { text: "hi" } });
    await server.waitFor((record) => record.event === "exit" && record.code === 9);
    const second = await connectV1(targetOf(server));
    await second.client.callTool(echo);
    await second.client.callTool(echo);
    const { pid } = (await server.events("start"))[1] ?? {};
    void server.control("exit", { code: 4 });
    await server.waitFor((record) => record.event === "exit" && record.code === 4 && record.pid === pid);
  });
});

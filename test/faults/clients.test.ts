/**
 * Clients that misbehave: they cost what they hold, and nobody else anything.
 */
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { disposeAll, onDispose, rawHttp, until } from "../fixtures/peers.ts";
import { startRig } from "./rig.ts";

afterEach(disposeAll);

/** A bare connection; what came in so far is `text()`. */
async function bare(url: string): Promise<{ socket: Socket; text(): string; closed(): boolean }> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onDispose(() => socket.destroy());
  let text = "";
  let closed = false;
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    closed = true;
  });
  await new Promise((resolve) => socket.once("connect", resolve));
  return { socket, text: () => text, closed: () => closed };
}

function post(path: string, headers: Record<string, string>, body: string, length = Buffer.byteLength(body)): string {
  const all = { host: "localhost", "content-type": "application/json", "content-length": String(length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

describe("a client", () => {
  it("that vanishes, sends half a body, or reuses ids harms nobody", async () => {
    const rig = await startRig({ config: { timeouts: { callMs: 5000 } } });
    const { raw } = rig;
    const session = { ...raw.headers, accept: "application/json, text/event-stream" };
    const slow = { method: "tools/call", params: { name: "bad_sleep", arguments: { ms: 600 } } };

    // Vanishes in the middle of a call: the call goes on, its answer is dropped.
    const gone = await bare(rig.goblin.url);
    gone.socket.write(post("/mcp", session, JSON.stringify({ jsonrpc: "2.0", id: "gone", ...slow })));
    await rig.bad.waitFor((record) => record.message?.params?.name === "sleep");
    gone.socket.destroy();

    // Half a body, then nothing; half a body, then the end; on both doors.
    const half = await bare(rig.goblin.url);
    half.socket.write(post("/mcp", session, '{"jsonrpc":"2.0","id":1,', 1000));
    const cut = await bare(rig.goblin.url);
    cut.socket.write(post("/mcp", session, '{"jsonrpc":"2.0","id":2,', 1000));
    cut.socket.destroy();
    const sse = await rawHttp(rig.goblin.sseUrl).stream({ verb: "GET" });
    await until(() => sse.events.length > 0);
    const cutSse = await bare(rig.goblin.url);
    cutSse.socket.write(post(sse.events[0]!.data, {}, '{"jsonrpc":"2.0",', 1000));
    await new Promise((resolve) => setTimeout(resolve, 50));
    cutSse.socket.destroy();

    // The id of a call that is under way: refused, and the first one is answered.
    const first = raw.call(slow.method, slow.params, "same");
    await until(async () => (await rig.bad.received("tools/call")).length === 2);
    const second = await raw.call("tools/call", { name: "bad_echo", arguments: {} }, "same");
    expect(second.message.error).toMatchObject({ code: -32600 });
    expect((await first).message.result.content).toEqual([{ type: "text", text: "slept 600" }]);

    await rig.others();
    expect(half.closed()).toBe(false);
    await sse.close();
    await rig.leftovers();
    await until(() => half.closed());
  });

  it("that floods is bounded, and answered", async () => {
    const rig = await startRig({ config: { timeouts: { callMs: 10_000 }, limits: { inFlightPerSession: 50 } } });
    const flood = Array.from({ length: 300 }, (_, n) => rig.call("sleep", { ms: 1500, n }));
    const other = rawHttp(rig.goblin.url);
    await other.initialize();
    const meanwhile = await other.call("tools/call", { name: "good_echo", arguments: { text: "meanwhile" } });
    expect(meanwhile.message.result.structuredContent).toEqual({ text: "meanwhile" });
    const answers = await Promise.all(flood);
    await rig.others();
    const refused = answers.filter(({ error }) => error?.data?.code === "LimitExceeded");
    const answered = answers.filter(({ result }) => result);
    expect(refused.length + answered.length).toBe(300);
    expect(refused.length).toBeGreaterThan(0);
    expect(answered.length).toBeGreaterThanOrEqual(50);
    await rig.leftovers();
  });

  it("that never reads is cut, and its session ends with it", async () => {
    const rig = await startRig({ config: { limits: { resultBytes: 20_000_000 }, timeouts: { callMs: 10_000 } } });
    const lazy = await bare(rig.goblin.url);
    lazy.socket.write("GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n");
    await until(() => lazy.text().includes("sessionId="));
    const path = /\/messages\?sessionId=[\w-]+/.exec(lazy.text())![0];
    const send = (message: object) =>
      fetch(`${rig.goblin.origin}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      });
    await send({
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "lazy", version: "1" } },
    });
    await until(() => lazy.text().includes('"id":0'));
    lazy.socket.pause();
    const params = { name: "bad_big", arguments: { bytes: 10_000_000 } };
    for (let id = 1; id <= 10; id++) await send({ id, method: "tools/call", params });
    const isGone = async () => (await send({ id: "ping", method: "ping" })).status === 404;
    await until(isGone, { what: "the end of the session", timeoutMs: 20_000, everyMs: 200 });
    await rig.others();
    lazy.socket.destroy();
    await rig.leftovers();
  });
});

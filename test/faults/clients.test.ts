/**
 * Clients that misbehave: they cost what they hold, and nobody else anything.
 */
import { afterEach, describe, expect, it } from "vitest";
import { bare, postText } from "../fixtures/bare.ts";
import { disposeAll, rawHttp, until } from "../fixtures/peers.ts";
import { startRig } from "./rig.ts";

afterEach(disposeAll);

describe("a client", () => {
  it("that vanishes, sends half a body, or reuses ids harms nobody", async () => {
    const rig = await startRig({ config: { timeouts: { callMs: 5000 } } });
    const { raw } = rig;
    const session = { ...raw.headers, accept: "application/json, text/event-stream" };
    const slow = { method: "tools/call", params: { name: "bad_sleep", arguments: { ms: 600 } } };

    // Vanishes in the middle of a call: the call goes on, its answer is dropped.
    const gone = await bare(rig.goblin.url);
    gone.socket.write(postText("/mcp", session, JSON.stringify({ jsonrpc: "2.0", id: "gone", ...slow })));
    await rig.bad.waitFor((record) => record.message?.params?.name === "sleep");
    gone.socket.destroy();

    // Half a body, then nothing; half a body, then the end; on both doors.
    const half = await bare(rig.goblin.url);
    half.socket.write(postText("/mcp", session, '{"jsonrpc":"2.0","id":1,', 1000));
    const cut = await bare(rig.goblin.url);
    cut.socket.write(postText("/mcp", session, '{"jsonrpc":"2.0","id":2,', 1000));
    cut.socket.destroy();
    const sse = await rawHttp(rig.goblin.sseUrl).stream({ verb: "GET" });
    await until(() => sse.events.length > 0);
    const cutSse = await bare(rig.goblin.url);
    cutSse.socket.write(postText(sse.events[0]!.data, {}, '{"jsonrpc":"2.0",', 1000));
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

  it("that stops in the middle of its request is told so and cut; nobody else notices, and nothing stays behind", async () => {
    const rig = await startRig({ config: { timeouts: { receiveMs: 1500, callMs: 60_000 } } });
    const { raw, goblin } = rig;
    const session = { ...raw.headers, accept: "application/json, text/event-stream" };
    const stream = await raw.stream({ verb: "GET" });
    const sse = await rawHttp(goblin.sseUrl).stream({ verb: "GET" });
    const endpoint = await until(() => sse.events[0]?.data);
    const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "half", version: "1" } };
    await rawHttp(`${goblin.origin}${endpoint}`).post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    const half = [
      postText("/mcp", session, '{"jsonrpc":"2.0","id":1,', 1000),
      postText(endpoint, {}, '{"jsonrpc":"2.0","id":2,', 1000),
      postText("/api/tools/call", {}, "{", 1000),
      "POST /mcp HTTP/1.1\r\nhost: localhost\r\nx-half: ",
    ];
    const stopped = await Promise.all(
      half.map(async (text) => {
        const connection = await bare(goblin.url);
        connection.socket.write(text);
        return connection;
      }),
    );
    // Longer than a request may take to arrive: what counts is when it was sent, not when it is
    // answered.
    const whole = await raw.call("tools/call", { name: "good_sleep", arguments: { ms: 1700 } });
    expect(whole.message.result.content).toEqual([{ type: "text", text: "slept 1700" }]);
    await until(() => stopped.every(({ closed }) => closed()), { what: "the end of what stopped" });
    for (const { text } of stopped) {
      const [head, body] = text().split("\r\n\r\n") as [string, string];
      expect(head).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
      expect(JSON.parse(body)).toMatchObject({
        id: null,
        error: {
          code: -32001,
          message: "The request did not arrive in full within 1500 ms",
          data: { code: "TIMEOUT" },
        },
      });
    }
    expect([stream.ended, sse.ended]).toEqual([false, false]);
    const metrics = await (await fetch(`${goblin.origin}/metrics`)).text();
    expect(metrics).toMatch(/^mcpRequestsInFlight\{.*\} 0$/m);
    expect(metrics).not.toMatch(/^mcpRequestsInFlight\{.*\} [^0]/m);
    await rig.others();
    await Promise.all([stream.close(), sse.close()]);
    await rig.leftovers();
  });

  it("that opens a stream and begins no session is cut", async () => {
    const rig = await startRig({ config: { timeouts: { receiveMs: 250 } } });
    const sse = await rawHttp(rig.goblin.sseUrl).stream({ verb: "GET" });
    const endpoint = await until(() => sse.events[0]?.data);
    await until(() => sse.ended, { what: "the end of the stream" });
    const late = await rawHttp(`${rig.goblin.origin}${endpoint}`).post({ jsonrpc: "2.0", id: 1, method: "ping" });
    expect(late.status).toBe(404);
    await rig.others();
    await rig.leftovers();
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
    const rig = await startRig({ config: { limits: { resultBytes: 20_000_000 }, timeouts: { callMs: 120_000 } } });
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
    await until(isGone, { what: "the end of the session", everyMs: 200 });
    await rig.others();
    lazy.socket.destroy();
    await rig.leftovers();
  });
});

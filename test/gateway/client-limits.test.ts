/**
 * The limits for one client: named in the error, and felt by nobody else.
 */
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

async function start(limits: Record<string, unknown>) {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: server.entry }, limits });
  const open = async () => {
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    return raw;
  };
  return { server, goblin, open };
}

const echo = { name: "one_echo", arguments: { text: "x" } };

describe("limits", () => {
  it("of calls under way in one session: the next one is refused, other sessions are not", async () => {
    const { server, open } = await start({ inFlightPerSession: 2 });
    const [greedy, other] = [await open(), await open()];
    const slow = [1, 2].map(() => greedy.call("tools/call", { name: "one_sleep", arguments: { ms: 500 } }));
    await until(async () => (await server.received("tools/call")).length === 2);
    const refused = await greedy.call("tools/call", echo);
    expect(refused.message.error).toMatchObject({ code: -32010, data: { code: "LimitExceeded", limit: 2 } });
    expect(refused.message.error.message).toContain("limits.inFlightPerSession");
    expect((await other.call("tools/call", echo)).message.result).toBeDefined();
    for (const { message } of await Promise.all(slow)) expect(message.result).toBeDefined();
    expect((await greedy.call("tools/call", echo)).message.result).toBeDefined();
  });

  it("of calls in a second: refused with the time to wait, other sessions are not", async () => {
    // So few that no call comes free while the test runs, however slow the machine is.
    const { open } = await start({ callsPerSecond: 0.001 });
    const [greedy, other] = [await open(), await open()];
    expect((await greedy.call("tools/call", echo)).message.result).toBeDefined();
    const { error } = (await greedy.call("tools/call", echo)).message;
    expect(error.message).toContain("limits.callsPerSecond");
    expect(error.data.limit).toBe(0.001);
    expect(error.data.retryAfterMs).toBeGreaterThan(0);
    expect(error.data.retryAfterMs).toBeLessThanOrEqual(1_000_000);
    expect((await other.call("tools/call", echo)).message.result).toBeDefined();
  });

  it("of sessions: 503 with the limit", async () => {
    const { goblin, open } = await start({ sessions: 1 });
    await open();
    const raw = rawHttp(goblin.url);
    const refused = await raw.call("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} });
    expect(refused.status).toBe(503);
    expect(refused.message.error).toMatchObject({ code: -32010, data: { limit: 1 } });
    expect(refused.message.error.message).toContain("limits.sessions");
  });

  it("of calls on one server: the queue is bounded, and named", async () => {
    const { server, open } = await start({ inFlightPerServer: 1, queuePerServer: 1 });
    const raw = await open();
    const slow = raw.call("tools/call", { name: "one_sleep", arguments: { ms: 300 } });
    await until(async () => (await server.received("tools/call")).length === 1);
    const queued = raw.call("tools/call", echo);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const refused = await raw.call("tools/call", echo);
    expect(refused.message.error).toMatchObject({ code: -32010, data: { limit: 1, serverId: "one" } });
    expect(refused.message.error.message).toContain("limits.queuePerServer");
    expect((await slow).message.result).toBeDefined();
    expect((await queued).message.result).toBeDefined();
  });

  it("of result sizes: the call fails with the limit, the server goes on", async () => {
    for (const transport of ["stdio", "http", "sse"] as const) {
      const server = await startScripted({ name: "big", transport });
      const goblin = await startGoblin({ mcpServers: { big: server.entry }, limits: { resultBytes: 200_000 } });
      const raw = rawHttp(goblin.url);
      await raw.initialize();
      const large = await raw.call("tools/call", { name: "big_big", arguments: { bytes: 400_000 } });
      expect(large.message.error).toMatchObject({ code: -32010, data: { code: "LimitExceeded", limit: 200_000 } });
      expect(large.message.error.message).toContain("limits.resultBytes");
      const small = await raw.call("tools/call", { name: "big_big", arguments: { bytes: 1000 } });
      expect(small.message.result.content[0].text).toHaveLength(1000);
    }
  });

  it("of headers: 431, and the connection is closed", async () => {
    const { goblin } = await start({});
    const { port } = new URL(goblin.url);
    const socket = connect(Number(port), "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.write(`GET /mcp HTTP/1.1\r\nHost: localhost\r\nX-Large: ${"x".repeat(20_000)}\r\n\r\n`);
    await new Promise((resolve) => socket.once("close", resolve));
    expect(answer).toContain("431");
  });
});

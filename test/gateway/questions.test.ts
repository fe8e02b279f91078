/**
 * What a server asks and says during a call reaches the session whose call it is, and no other.
 * Where that cannot be known the server gets an error that says how to make it known.
 */
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, type Handlers, rawHttp, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

const named = (name: string): Handlers => ({
  name,
  elicitation: () => ({ action: "accept", content: { name } }),
  sampling: () => ({ model: "m", role: "assistant", content: { type: "text", text: `said by ${name}` } }),
  roots: [{ uri: `file:///home/${name}`, name }],
});

const answers = (name: string) => ({
  elicitation: { action: "accept", content: { name } },
  sampling: { model: "m", role: "assistant", content: { type: "text", text: `said by ${name}` } },
  roots: { roots: [{ uri: `file:///home/${name}`, name }] },
});

interface Caller {
  callTool(request: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

async function asked(client: Caller, tool: string, args: Record<string, unknown>): Promise<unknown> {
  const result = (await client.callTool({ name: tool, arguments: args })) as { content: { text: string }[] };
  return JSON.parse(result.content[0]!.text);
}

describe.each(["stdio", "http", "sse"] as const)("a shared server over %s", (transport) => {
  test.each(["url", "sseUrl"] as const)("asks the client whose call it is (clients on %s)", async (way) => {
    const backend = await startScripted({ transport, name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: backend.entry } });
    const { client: ada } = await connectV1({ [way]: goblin[way], ...named("ada") });
    const { client: bob } = await connectV2({ [way]: goblin[way], ...named("bob") });
    for (const kind of ["elicitation", "sampling", "roots"] as const) {
      expect(await asked(ada, "one_ask", { kind })).toEqual(answers("ada")[kind]);
      expect(await asked(bob, "one_ask", { kind })).toEqual(answers("bob")[kind]);
    }
    // Two rounds in one call, and two calls of one client at a time.
    const twice = [answers("ada").elicitation, answers("ada").elicitation];
    const both = [asked(ada, "one_ask", { kind: "elicitation", rounds: 2 }), asked(ada, "one_ask", { kind: "roots" })];
    expect(await Promise.all(both)).toEqual([twice, answers("ada").roots]);
    expect(await backend.events("violation")).toEqual([]);
  });

  test("a client that cannot answer: the server gets an error", async () => {
    const backend = await startScripted({ transport, name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: backend.entry } });
    const { client } = await connectV1({ url: goblin.url });
    expect(await asked(client, "one_ask", { kind: "sampling" })).toMatchObject({
      error: { code: -32601, message: "The client does not support sampling/createMessage" },
    });
  });

  test("what the client answers with an error is an error for the server", async () => {
    const backend = await startScripted({ transport, name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: backend.entry } });
    const refuse = () => {
      throw Object.assign(new Error("not today"), { code: -32055, data: { why: "tired" } });
    };
    const { client } = await connectV1({ url: goblin.url, elicitation: refuse });
    expect(await asked(client, "one_ask", { kind: "elicitation" })).toEqual({
      error: { code: -32055, message: "not today", data: { why: "tired" } },
    });
  });
});

describe.each(["stdio", "sse"] as const)("calls of two sessions under way on one connection over %s", (transport) => {
  test("the server's question is answered with an error that says what to set", async () => {
    const backend = await startScripted({ transport, name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: backend.entry } });
    const { client: ada } = await connectV1({ url: goblin.url, ...named("ada") });
    const { client: bob } = await connectV1({ url: goblin.url, ...named("bob") });
    const slow = bob.callTool({ name: "one_sleep", arguments: { ms: 600 } });
    await backend.waitFor((r) => r.message?.params?.name === "sleep");
    expect(await asked(ada, "one_ask", { kind: "elicitation" })).toMatchObject({
      error: {
        code: -32603,
        message: expect.stringContaining('set "share": "session" for server "one"'),
        data: { code: "UNDECIDABLE_CLIENT", serverId: "one" },
      },
    });
    await slow;
    expect(await asked(ada, "one_ask", { kind: "elicitation" })).toEqual(answers("ada").elicitation);
  });
});

test("over HTTP the request's own stream tells calls of two sessions apart", async () => {
  const backend = await startScripted({ transport: "http", name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: backend.entry } });
  const { client: ada } = await connectV1({ url: goblin.url, ...named("ada") });
  const { client: bob } = await connectV1({ url: goblin.url, ...named("bob") });
  const slow = bob.callTool({ name: "one_sleep", arguments: { ms: 300 } });
  await backend.waitFor((r) => r.message?.params?.name === "sleep");
  expect(await asked(ada, "one_ask", { kind: "elicitation" })).toEqual(answers("ada").elicitation);
  await slow;
});

describe.each(["stdio", "http", "sse"] as const)('share: "session" over %s', (transport) => {
  test("each session has its own connection, with its client's own capabilities, until it ends", async () => {
    const backend = await startScripted({ transport, name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: { ...backend.entry, share: "session" } } });
    const ada = await connectV1({ url: goblin.url, ...named("ada") });
    const bob = await connectV1({ sseUrl: goblin.sseUrl, name: "bob", roots: [] });
    type Me = { pid: number; connection: number; client: { info: { name: string }; capabilities: object } };
    const whoami = async (client: Caller): Promise<Me> => (await asked(client, "one_whoami", {})) as Me;
    const [a, b, again] = [await whoami(ada.client), await whoami(bob.client), await whoami(ada.client)];
    expect(again).toEqual(a);
    expect([a.client.info.name, b.client.info.name]).toEqual(["ada", "bob"]);
    expect(a.client.capabilities).toEqual({
      elicitation: { form: {}, url: {} },
      sampling: {},
      roots: { listChanged: true },
    });
    expect(b.client.capabilities).toEqual({ roots: { listChanged: true } });
    if (transport === "stdio") expect(a.pid).not.toBe(b.pid);
    else expect(a.connection).not.toBe(b.connection);

    // Both ask at the same time, and each gets its own client.
    const slow = bob.client.callTool({ name: "one_sleep", arguments: { ms: 200 } });
    await backend.waitFor((r) => r.message?.params?.name === "sleep");
    expect(await asked(ada.client, "one_ask", { kind: "elicitation" })).toEqual(answers("ada").elicitation);
    expect(await asked(bob.client, "one_ask", { kind: "elicitation" })).toEqual({ unsupported: "elicitation" });
    await slow;

    await bob.close();
    await backend.waitFor((r) => r.event === "close" && r.pid === b.pid && r.conn === b.connection);
    if (transport === "stdio") await until(() => !isAlive(b.pid), { what: "end of bob's process" });
    expect(await whoami(ada.client)).toEqual(a);
    await (ada.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
    await backend.waitFor((r) => r.event === "close" && r.pid === a.pid && r.conn === a.connection);
  });
});

test("a session that never completed its handshake still frees its connection", async () => {
  const backend = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: { ...backend.entry, share: "session" } } });
  const client = rawHttp(goblin.url);
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "hasty", version: "1" } };
  const opened = await client.call("initialize", params);
  client.headers["mcp-session-id"] = opened.headers.get("mcp-session-id")!;
  const { message } = await client.call("tools/call", { name: "one_whoami", arguments: {} });
  await client.delete();
  await backend.waitFor((r) => r.event === "exit" && r.pid === message.result.structuredContent.pid);
});

test("a client that changes its roots tells the server on its own connection", async () => {
  const backend = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: { ...backend.entry, share: "session" } } });
  const { client } = await connectV1({ url: goblin.url, ...named("ada") });
  await client.callTool({ name: "one_whoami", arguments: {} });
  await client.sendRootsListChanged();
  await backend.waitFor((r) => r.message?.method === "notifications/roots/list_changed");
});

test.each(["all", "session"] as const)("a question outlives another call of its client (share: %s)", async (share) => {
  const backend = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: { ...backend.entry, share } } });
  const abort = new AbortController();
  const others: Promise<unknown>[] = [];
  let round = 0;
  const { client } = await connectV1({
    url: goblin.url,
    async elicitation() {
      if (++round === 1) {
        // The next question comes while this call is the newest.
        const sleep = { name: "one_sleep", arguments: { ms: 60_000 } };
        others.push(client.callTool(sleep, undefined, { signal: abort.signal }).catch(() => "given up"));
        await backend.waitFor((r) => r.message?.params?.name === "sleep");
      } else {
        abort.abort();
        await backend.waitFor((r) => r.message?.method === "notifications/cancelled");
      }
      return { action: "accept", content: { round } };
    },
  });
  expect(await asked(client, "one_ask", { kind: "elicitation", rounds: 2 })).toEqual([
    { action: "accept", content: { round: 1 } },
    { action: "accept", content: { round: 2 } },
  ]);
  expect(await Promise.all(others)).toEqual(["given up"]);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

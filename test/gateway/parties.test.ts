/**
 * `share: "session"` keeps clients apart that nothing but a token, or not even that, tells apart:
 * what a server keeps of one request is never met by another. What belongs to one request stays
 * together, and nothing stays behind.
 */
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, type Scripted, startScripted, until } from "../fixtures/peers.ts";
import { isRunning } from "../fixtures/processes.ts";
import { connectSpeaker } from "../matrix/speakers.ts";
import { type Stateless, stateless } from "../matrix/stateless.ts";

afterEach(disposeAll);

const AUTH = { gateway: { auth: { tokens: ["alice-and-bob"] } } };
const TASKS = "io.modelcontextprotocol/tasks";

async function whoami(client: Stateless): Promise<{ pid: number; connection: number }> {
  const { message } = await client.call("tools/call", { name: "one_whoami", arguments: {} });
  return message.result.structuredContent;
}

/** The connections that were made for clients, and those of them that still stand. */
async function connections(server: Scripted): Promise<{ made: number; open: number }> {
  const all = await server.log();
  const of = (event: string) => all.filter((r) => r.event === event).map((r) => `${r.pid} ${r.conn}`);
  // The first is the gateway's own.
  const made = of("connect").slice(1);
  const closed = new Set(of("close"));
  return { made: made.length, open: made.filter((one) => !closed.has(one)).length };
}

describe.each([
  ["without tokens", {}, undefined],
  ["with the same token", AUTH, "alice-and-bob"],
] as const)("two clients without a session, %s", (_, config, token) => {
  test.each(["stdio", "http", "sse"] as const)("never meet on one connection over %s", async (transport) => {
    const server = await startScripted({ name: "one", transport });
    const goblin = await startGoblin({ ...config, mcpServers: { one: { ...server.entry, share: "session" } } });
    const options = token === undefined ? {} : { token };
    const [alice, bob] = [stateless(goblin.url, options), stateless(goblin.url, options)];
    const seen = [await whoami(alice), await whoami(bob), await whoami(alice)];
    expect(new Set(seen.map(({ pid, connection }) => `${pid} ${connection}`)).size).toBe(3);
    await until(async () => (await connections(server)).open === 0, { what: "the end of all connections" });
    if (transport === "stdio") await until(() => seen.every(({ pid }) => !isRunning(pid)), { what: "their end" });
  });
});

test("all rounds of one call are one party's: the server is asked on one connection, which then ends", async () => {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: { ...server.entry, share: "session" } } });
  const client = stateless(goblin.url, { capabilities: { roots: {} } });
  const params = { name: "one_ask", arguments: { kind: "roots", rounds: 2 } };
  let { result } = (await client.call("tools/call", params)).message;
  for (let round = 1; round <= 2; round++) {
    expect(result.resultType).toBe("input_required");
    const inputResponses = Object.fromEntries(Object.keys(result.inputRequests).map((key) => [key, { roots: [] }]));
    const again = { ...params, inputResponses, requestState: result.requestState };
    ({ result } = (await client.call("tools/call", again)).message);
  }
  expect(result.content[0].text).toBe('[{"roots":[]},{"roots":[]}]');
  await until(async () => (await connections(server)).open === 0);
  expect(await connections(server)).toEqual({ made: 1, open: 0 });
});

describe("a program that speaks without a handshake", () => {
  const start = async (config = {}) => {
    const capabilities = { extensions: { [TASKS]: {} } };
    const rules = [{ method: "tasks/get", do: "result", result: { resultType: "complete", status: "working" } }];
    const server = await startScripted({ name: "one", era: "modern", script: { capabilities, rules } });
    const goblin = await startGoblin({ ...config, mcpServers: { one: { ...server.entry, share: "session" } } });
    return { server, goblin };
  };

  test("gets the repeated request on the connection that it asked on", async () => {
    const { server, goblin } = await start();
    const client = stateless(goblin.url, { capabilities: { roots: {} } });
    const params = { name: "one_ask", arguments: { kind: "roots" } };
    const { result } = (await client.call("tools/call", params)).message;
    const [key] = Object.keys(result.inputRequests);
    const again = { ...params, inputResponses: { [key!]: { roots: [] } }, requestState: result.requestState };
    const { message } = await client.call("tools/call", again);
    expect(message.result?.content[0].text, JSON.stringify(message)).toBe('{"roots":[]}');
    await until(async () => (await connections(server)).open === 0);
    expect(await connections(server)).toEqual({ made: 1, open: 0 });
  });

  test("is not left to a client with the same words and another token", async () => {
    const { server, goblin } = await start({ gateway: { auth: { tokens: ["alice", "bob"] } } });
    const [alice, bob] = ["alice", "bob"].map((token) => stateless(goblin.url, { token, capabilities: { roots: {} } }));
    const params = { name: "one_ask", arguments: { kind: "roots" } };
    const { requestState } = (await alice!.call("tools/call", params)).message.result;
    const { message } = await bob!.call("tools/call", { ...params, requestState });
    expect(message.error.message).toBe("requestState is not valid for this request");
    expect((await connections(server)).made).toBe(1);
  });

  test("is asked about a task on the connection that the task was begun on", async () => {
    const { server, goblin } = await start();
    const client = stateless(goblin.url, { capabilities: { extensions: { [TASKS]: {} } } });
    const task = { resultType: "task", taskId: "t1", task: { taskId: "t1", status: "working" } };
    const begun = await client.call("tools/call", { name: "one_raw", arguments: { result: task } });
    const { taskId } = begun.message.result;
    const poll = () => client.call("tasks/get", { taskId }, { headers: { "mcp-name": taskId } });
    await poll();
    await Promise.all([poll(), poll()]);
    const polled = await server.received("tasks/get");
    const [called] = await server.received("tools/call");
    expect(polled.map(({ pid }) => pid)).toEqual([called!.pid, called!.pid, called!.pid]);
  });
});

test("a server at an address that keeps nothing of a request needs no connection for each", async () => {
  const server = await startScripted({ name: "one", era: "modern", transport: "http" });
  const goblin = await startGoblin({ mcpServers: { one: { ...server.entry, share: "session" } } });
  for (let n = 1; n <= 3; n++) await whoami(stateless(goblin.url));
  expect(await server.received("server/discover")).toHaveLength(1);
});

test("on a channel of its own, a client keeps its own connection", async () => {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: { ...server.entry, share: "session" } } });
  const [ada, bob] = [
    await connectSpeaker({ goblin, version: "2026-07-28", way: "stdio" }),
    await connectSpeaker({ goblin, version: "2026-07-28", way: "stdio" }),
  ];
  const pids: number[] = [];
  for (const who of [ada, bob, ada, bob]) {
    const { result } = await who.request("tools/call", { name: "one_whoami", arguments: {} });
    pids.push(result.structuredContent.pid);
  }
  expect(pids.slice(2)).toEqual(pids.slice(0, 2));
  expect(pids[0]).not.toBe(pids[1]);
});

describe("more than one token", () => {
  const pids = async (tokens: readonly string[], entry: Record<string, unknown>) => {
    const goblin = await startGoblin({ gateway: { auth: { tokens } }, mcpServers: { one: entry } });
    const seen = [];
    for (const token of ["alice", tokens.at(-1)]) {
      const { client } = await connectV1({ url: goblin.url, headers: { authorization: `Bearer ${token}` } });
      const { structuredContent } = await client.callTool({ name: "one_whoami", arguments: {} });
      const { pid, connection } = structuredContent as { pid: number; connection: number };
      seen.push(`${pid} ${connection}`);
    }
    return new Set(seen).size;
  };

  test.each(["stdio", "sse"] as const)("gives each client its own connection over %s by default", async (transport) => {
    const { entry } = await startScripted({ name: "one", transport });
    expect(await pids(["alice", "bob"], entry)).toBe(2);
    expect(await pids(["alice", "bob"], { ...entry, share: "all" })).toBe(1);
    expect(await pids(["alice"], entry)).toBe(1);
    expect(await pids(["alice", "alice"], entry)).toBe(1);
  });

  test("changes nothing for a server at an address, which tells its requests apart", async () => {
    const { entry } = await startScripted({ name: "one", transport: "http" });
    expect(await pids(["alice", "bob"], entry)).toBe(1);
  });
});

describe("limits.connectionsPerServer", () => {
  const start = async (era: "legacy" | "modern", connectionsPerServer: number) => {
    const server = await startScripted({ name: "one", era });
    const mcpServers = { one: { ...server.entry, share: "session" } };
    const goblin = await startGoblin({ mcpServers, limits: { connectionsPerServer } });
    return { server, client: stateless(goblin.url, { capabilities: { roots: {} } }) };
  };

  test("a call that would need one more is refused, and served when there is room", async () => {
    const { server, client } = await start("legacy", 1);
    const slow = client.call("tools/call", { name: "one_sleep", arguments: { ms: 300 } });
    await server.waitFor((r) => r.message?.params?.name === "sleep");
    const { error } = (await client.call("tools/call", { name: "one_echo", arguments: {} })).message;
    expect(error).toMatchObject({ code: -32010, data: { limitName: "limits.connectionsPerServer", serverId: "one" } });
    expect((await slow).message.result.content[0].text).toBe("slept 300");
    await until(async () => !(await client.call("tools/call", { name: "one_echo", arguments: {} })).message.error);
  });

  test("what is kept for an answer that may never come makes room", async () => {
    const { server, client } = await start("modern", 1);
    for (let n = 1; n <= 3; n++) {
      const { message } = await client.call("tools/call", { name: "one_ask", arguments: { kind: "roots" } });
      expect(message.result?.resultType, JSON.stringify(message)).toBe("input_required");
    }
    expect(await connections(server)).toEqual({ made: 3, open: 1 });
  });
});

/**
 * A task belongs to the client that started it: a server behind a shared connection shows them to
 * everybody, Goblin to their owner alone.
 */
import { EventEmitter } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { ephemeralSealer } from "../../../src/core/session/continuity.ts";
import { type TaskParts, Tasks } from "../../../src/core/session/tasks.ts";
import { extensionServer } from "../../fixtures/extension-server.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, rawHttp } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

/**
 * A server with a handshake whose task ids are easily guessed, and whose list has everybody's
 * tasks.
 */
const SERVER = `
  let count = 0;
  const tasks = new Map();
  const out = (m) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\\n");
  const answers = {
    initialize: () => ({ protocolVersion: "2025-11-25", serverInfo: { name: "w", version: "1" },
      capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } }),
    "tools/list": () => ({ tools: [{ name: "work", inputSchema: { type: "object" } }, { name: "tell", inputSchema: { type: "object" } }] }),
    "tools/call": ({ name, task }) => {
      if (name === "tell") {
        for (const task of tasks.values()) out({ method: "notifications/tasks/status", params: task });
        return { content: [] };
      }
      const made = { taskId: "t" + ++count, status: "working", createdAt: "2026-01-01T00:00:00Z", big: 1 };
      tasks.set(made.taskId, made);
      return { task: made };
    },
    "tasks/list": () => ({ tasks: [...tasks.values()] }),
    "tasks/get": ({ taskId }) => tasks.get(taskId),
    "tasks/result": ({ taskId }) => tasks.has(taskId) && { content: [{ type: "text", text: "result of " + taskId }], _meta: { "io.modelcontextprotocol/related-task": { taskId } } },
    "tasks/cancel": ({ taskId }) => tasks.has(taskId) && Object.assign(tasks.get(taskId), { status: "cancelled" }),
  };
  let rest = "";
  process.stdin.on("data", (chunk) => {
    rest += chunk;
    const lines = rest.split("\\n");
    rest = lines.pop();
    for (const line of lines) {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) continue;
      const result = answers[method]?.(params ?? {});
      out(result ? { id, result } : { id, error: { code: -32602, message: "unknown here" } });
    }
  });`;
const worker = { command: process.execPath, args: ["-e", SERVER], share: "all" };
const tokens = ["alice-alice-alice", "bob-bob-bob-bob-bob"] as const;

async function enter(url: string, token?: string) {
  const client = rawHttp(url);
  if (token) client.headers["authorization"] = `Bearer ${token}`;
  await client.initialize("2025-11-25", { tasks: {} });
  const call = async (method: string, params: Record<string, unknown> = {}) =>
    (await client.call(method, params)).message;
  return {
    call,
    begin: async (server = "worker"): Promise<string> =>
      (await call("tools/call", { name: `${server}_work`, arguments: {}, task: {} })).result.task.taskId,
    tell: () => call("tools/call", { name: "worker_tell", arguments: {} }),
    listed: async (): Promise<string[]> =>
      (await call("tasks/list")).result.tasks.map(({ taskId }: { taskId: string }) => taskId),
    stream: () => client.stream({}),
    leave: () => client.delete(),
  };
}

describe.each([
  ["by token", tokens],
  ["by session", [undefined, undefined] as const],
])("clients with a handshake, told apart %s", (_how, [first, second]) => {
  const auth = first ? { gateway: { auth: { tokens } } } : {};

  test("each has its own list, over all servers", async () => {
    const { url } = await startGoblin({ mcpServers: { worker, other: worker }, ...auth });
    const [alice, bob] = [await enter(url, first), await enter(url, second)];
    const mine = [await alice.begin(), await alice.begin("other")];
    const yours = [await bob.begin()];
    expect(await alice.listed()).toEqual(mine);
    expect(await bob.listed()).toEqual(yours);
    expect((await alice.call("tasks/list")).result.tasks[0]).toEqual({
      taskId: mine[0],
      status: "working",
      createdAt: "2026-01-01T00:00:00Z",
      big: 1,
    });
  });

  test("a foreign task is answered as one that never was, and stays as it is", async () => {
    const { url } = await startGoblin({ mcpServers: { worker }, ...auth });
    const [alice, bob] = [await enter(url, first), await enter(url, second)];
    const taskId = await alice.begin();
    const own = taskId.slice(taskId.indexOf("."));
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel", "tasks/update"]) {
      for (const guess of [taskId, `worker${own}`, `worker+t1`, `worker+${own}`, "t1"]) {
        const { error, result } = await bob.call(method, { taskId: guess });
        expect(result).toBeUndefined();
        delete error.data.requestId;
        expect(error).toEqual({ code: -32602, message: `Task not found: ${guess}`, data: { code: "INVALID_PARAMS" } });
      }
    }
    expect((await alice.call("tasks/get", { taskId })).result).toMatchObject({ taskId, status: "working" });
    const { result } = await alice.call("tasks/result", { taskId });
    expect(result.content[0].text).toBe("result of t1");
    expect(result._meta["io.modelcontextprotocol/related-task"].taskId).toBe(taskId);
    expect((await alice.call("tasks/cancel", { taskId })).result).toMatchObject({ taskId, status: "cancelled" });
  });

  test("what the server says of it reaches its owner alone", async () => {
    const { url } = await startGoblin({ mcpServers: { worker }, ...auth });
    const [alice, bob] = [await enter(url, first), await enter(url, second)];
    const [heardA, heardB] = [await alice.stream(), await bob.stream()];
    const taskId = await alice.begin();
    const other = await bob.begin();
    await bob.tell();
    await heardA.next((m) => m.method === "notifications/tasks/status");
    await heardB.next((m) => m.method === "notifications/tasks/status");
    const told = (stream: typeof heardA) => stream.messages.map(({ params }) => params.taskId);
    expect([told(heardA), told(heardB)]).toEqual([[taskId], [other]]);
  });
});

test("a new session with the same token has the tasks of the one before, and hears of them", async () => {
  const { url } = await startGoblin({ mcpServers: { worker }, gateway: { auth: { tokens } } });
  const before = await enter(url, tokens[0]);
  const taskId = await before.begin();
  await before.leave();
  const after = await enter(url, tokens[0]);
  expect(await after.listed()).toEqual([taskId]);
  const heard = await after.stream();
  await after.tell();
  expect((await heard.next((m) => m.method === "notifications/tasks/status")).params.taskId).toBe(taskId);
});

test("a long list comes in pages, without tasks that their server has forgotten", async () => {
  const { url, gateway } = await startGoblin({ mcpServers: { worker } });
  const client = await enter(url);
  const ids: string[] = [];
  for (let i = 0; i < 45; i++) ids.push(await client.begin());
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const { result } = await client.call("tasks/list", cursor === undefined ? {} : { cursor });
    pages.push(result.tasks.map((task: { taskId: string }) => task.taskId));
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  expect(pages).toEqual([ids.slice(0, 20), ids.slice(20, 40), ids.slice(40)]);
  expect((await client.call("tasks/list", { cursor: "x" })).error.code).toBe(-32602);
  await gateway.servers.roster.get("worker")?.backend.restart();
  const { result } = await client.call("tasks/list");
  expect(result.tasks).toEqual([]);
});

describe("clients without a handshake", () => {
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const asked = (client: ReturnType<typeof stateless>, method: string, taskId: string) =>
    client.call(method, { taskId }, { headers: { "mcp-name": taskId } });
  const methods = ["tasks/get", "tasks/update", "tasks/cancel"];

  test("with tokens: a task is the token's", async () => {
    const worker = { type: "http", url: await extensionServer() };
    const { url } = await startGoblin({ mcpServers: { worker }, gateway: { auth: { tokens } } });
    const [alice, bob] = tokens.map((token) => stateless(url, { token, capabilities }));
    const { taskId } = (await alice!.call("tools/call", { name: "worker_work" })).message.result;
    for (const method of methods) {
      const [foreign, unknown] = [await asked(bob!, method, taskId), await asked(alice!, method, "worker+x.t1")];
      expect(foreign.message.error).toMatchObject({ code: -32602, message: `Task not found: ${taskId}` });
      expect(unknown.message.error).toMatchObject({ code: -32602, message: "Task not found: worker+x.t1" });
      expect(foreign.status).toBe(unknown.status);
    }
    expect((await asked(alice!, "tasks/get", taskId)).message.result).toMatchObject({ taskId, status: "working" });
  });

  test("without tokens: a task is open to anyone with its id, and the server's own id does not reveal it", async () => {
    const worker = { type: "http", url: await extensionServer() };
    const { url } = await startGoblin({ mcpServers: { worker } });
    const client = stateless(url, { capabilities });
    const { taskId } = (await client.call("tools/call", { name: "worker_work" })).message.result;
    expect((await asked(client, "tasks/get", taskId)).message.result).toMatchObject({ taskId, status: "working" });
    const seal = taskId.slice("worker+".length, -".t1".length);
    expect(seal).toMatch(/^[\w-]{22}$/);
    for (const guess of ["worker+t1", "worker+.t1", `worker+${seal.slice(1)}A.t1`, `worker+${seal}.t2`]) {
      expect((await asked(client, "tasks/get", guess)).message.error.code).toBe(-32602);
    }
    const session = await enter(url);
    expect(await session.listed()).toEqual([]);
    expect((await session.call("tasks/get", { taskId })).error.code).toBe(-32602);
  });
});

test("a client without a handshake hears of its task at a server with one, if it listens for it", async () => {
  const { url } = await startGoblin({ mcpServers: { worker }, gateway: { auth: { tokens } } });
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const [alice, bob] = tokens.map((token) => stateless(url, { token, capabilities }));
  const { taskId } = (await alice!.call("tools/call", { name: "worker_work", task: {} })).message.result.task;
  const notifications = { taskIds: [taskId], toolsListChanged: true };
  const [hers, his] = await Promise.all(
    [alice!, bob!].map((client) => client.stream("subscriptions/listen", { notifications })),
  );
  const granted = async (stream: typeof hers) =>
    (await stream!.next((m) => m.method === "notifications/subscriptions/acknowledged")).params.notifications.taskIds;
  expect([await granted(hers), await granted(his)]).toEqual([[taskId], undefined]);
  await bob!.call("tools/call", { name: "worker_tell" });
  const { params } = await hers!.next((m) => m.method === "notifications/tasks");
  expect(params).toMatchObject({ taskId, status: "working" });
  await bob!.call("tools/list");
  expect(his!.messages.map(({ method }) => method)).toEqual(["notifications/subscriptions/acknowledged"]);
});

test("programs of their own may give two clients the same id: each has its own task", async () => {
  const own = { ...worker, share: "session" };
  const { url } = await startGoblin({ mcpServers: { worker: own }, gateway: { auth: { tokens } } });
  const [alice, bob] = await Promise.all([enter(url, tokens[0]), enter(url, tokens[1])]);
  const hers = await alice.begin();
  const his = await bob.begin();
  expect(hers).not.toBe(his);
  expect(hers.endsWith(".t1") && his.endsWith(".t1")).toBe(true);
  expect((await alice.call("tasks/get", { taskId: hers })).result.taskId).toBe(hers);
  expect((await bob.call("tasks/get", { taskId: his })).result.taskId).toBe(his);
  expect((await bob.call("tasks/get", { taskId: hers })).error.code).toBe(-32602);
});

describe("the book", () => {
  const sealer = ephemeralSealer();
  const book = () => {
    const sessions = Object.assign(new EventEmitter(), { get: () => undefined });
    const catalog = { snapshot: { resources: { prefixOf: (id: string) => id } } };
    return new Tasks({
      servers: Object.assign(new EventEmitter(), {
        ownerOf: () => undefined,
        isUsable: () => true,
        watchTask: async () => true,
        unwatchTask: async () => {},
      }),
      sessions,
      catalog,
      sealer,
    } as unknown as TaskParts);
  };
  const [me, you] = ["me", "you"].map((key) => ({ key, scope: key, taskOwner: key })) as [never, never];
  const parts = (exposed: string | undefined) => ({ seal: exposed!.slice(2, 24), tag: "", taskId: exposed!.slice(25) });

  test("what falls out of it, or was begun in an earlier process, still opens for its owner and for nobody else", () => {
    const tasks = book();
    tasks.started("a", "0", me);
    const first = parts(tasks.exposed("a", "0", me));
    for (let i = 1; i <= 1000; i++) tasks.started("a", String(i), me);
    expect(tasks.exposed("a", "0", me)).toBeUndefined();
    for (const after of [tasks, book()]) {
      expect(after.opens("a", first, you)).toBe(false);
      expect(after.opens("b", first, me)).toBe(false);
      expect(after.opens("a", { ...first, taskId: "1" }, me)).toBe(false);
      expect(after.opens("a", first, me)).toBe(true);
      expect(after.exposed("a", "0", me)).toBe(`a+${first.seal}.0`);
    }
  });

  test("an id that the server gives out anew is its new owner's alone", () => {
    const tasks = book();
    tasks.started("a", "1", me);
    const old = parts(tasks.exposed("a", "1", me));
    tasks.started("a", "1", you);
    expect(tasks.opens("a", old, me)).toBe(false);
    expect(tasks.exposed("a", "1", me)).toBeUndefined();
    expect(tasks.page("me", 0, 10).page).toEqual([]);
    expect(tasks.page("you", 0, 10).page).toHaveLength(1);
  });

  test("one owner's many tasks push out nobody else's", () => {
    const tasks = book();
    tasks.started("a", "mine", me);
    for (let i = 0; i < 20_000; i++) tasks.started("a", String(i), you);
    expect(tasks.exposed("a", "mine", me)).toBeDefined();
    expect(tasks.page("you", 0, 2000).page).toHaveLength(1000);
  });
});

/**
 * What a server without handshake says of its tasks (`notifications/tasks`): it says it to those
 * that listen for the task, and only the task's owner may. Goblin listens for all of them on one
 * stream.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, until } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

const EXTENSION = "io.modelcontextprotocol/tasks";
const capabilities = { extensions: { [EXTENSION]: {} } };
const tokens = ["alice-alice-alice", "bob-bob-bob-bob-bob"] as const;
const NOTE = "notifications/tasks";
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

interface Listening {
  readonly id: number;
  readonly taskIds: string[];
  readonly response: ServerResponse;
}

interface ListenParams {
  readonly _meta: Record<string, { extensions?: object } | undefined>;
  readonly notifications: { taskIds?: string[] };
}

/** A server whose tasks go on when the test says so. `refused`: what it does not report. */
async function startWorker({ refused = [] as string[] } = {}) {
  const tasks = new Map<string, Record<string, unknown>>();
  const listening = new Set<Listening>();
  let opened = 0;
  const base = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
  const answers: Record<string, (params: { taskId: string }) => object | undefined> = {
    "server/discover": () => ({
      ...base,
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, extensions: { [EXTENSION]: {} } },
    }),
    "tools/list": () => ({ ...base, tools: [{ name: "work", inputSchema: { type: "object" } }] }),
    "tools/call": () => {
      const task = { taskId: `t${tasks.size + 1}`, status: "working" };
      tasks.set(task.taskId, task);
      return { ...task, resultType: "task" };
    },
    "tasks/get": ({ taskId }) => ({ ...tasks.get(taskId), resultType: "complete" }),
  };
  const listen = (id: number, { _meta, notifications }: ListenParams, response: ServerResponse): void => {
    const { extensions = {} } = _meta["io.modelcontextprotocol/clientCapabilities"] ?? {};
    const asked = EXTENSION in extensions ? (notifications.taskIds ?? []) : [];
    const taskIds = asked.filter((each) => !refused.includes(each));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const entry = { id, taskIds, response };
    listening.add(entry);
    if (taskIds.length > 0) opened++;
    response.on("close", () => listening.delete(entry));
    say(entry, ACKNOWLEDGED, { notifications: { taskIds } });
  };
  const say = ({ id, response }: Listening, method: string, params: object): void => {
    const stamped = { ...params, _meta: { "io.modelcontextprotocol/subscriptionId": id } };
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params: stamped })}\n\n`);
  };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body || "{}");
    if (method === "subscriptions/listen") return listen(id, params, response);
    const result = answers[method]?.(params);
    response.writeHead(result ? 200 : 404, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error: { code: -32601, message: "no" } }) }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onDispose(() => void server.close(() => {}).closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return {
    entry: { type: "http", url: `http://127.0.0.1:${port}/mcp` },
    /** The tasks that are listened for. */
    heard: () => [...listening].flatMap(({ taskIds }) => taskIds).sort(),
    /** How many streams for tasks there were. */
    opened: () => opened,
    cutStreams: () => {
      for (const { response } of listening) response.destroy();
    },
    /** The task goes on, and everybody is told who asked for it. */
    goOn(taskId: string, status: string) {
      Object.assign(tasks.get(taskId)!, { status });
      const told = [...listening].filter(({ taskIds }) => taskIds.includes(taskId));
      for (const each of told) say(each, NOTE, tasks.get(taskId)!);
      return told.length;
    },
  };
}

async function begin(client: ReturnType<typeof stateless>): Promise<string> {
  return (await client.call("tools/call", { name: "worker_work" })).message.result.taskId;
}

async function listenFor(client: ReturnType<typeof stateless>, taskIds: string[]) {
  // The stream stays open for lists, whatever becomes of the tasks.
  const notifications = { taskIds, toolsListChanged: true };
  const stream = await client.stream("subscriptions/listen", { notifications });
  const { params } = await stream.next((m) => m.method === ACKNOWLEDGED);
  const notes = () => stream.messages.filter((m) => m.method === NOTE);
  return { stream, honoured: params.notifications.taskIds, notes };
}

describe.each([
  ["with tokens", { gateway: { auth: { tokens } } }, tokens],
  ["without tokens", {}, [undefined, undefined] as const],
])("clients without a handshake, %s", (_how, config, [first, second]) => {
  test("hear of the tasks that they listen for, under their own ids, and of no others", async () => {
    const worker = await startWorker();
    const { url } = await startGoblin({ mcpServers: { worker: worker.entry }, ...config });
    const alice = stateless(url, { capabilities, ...(first && { token: first }) });
    const bob = stateless(url, { capabilities, ...(second && { token: second }) });
    const [hers, his] = [await begin(alice), await begin(bob)];
    const a = await listenFor(alice, [hers]);
    const b = await listenFor(bob, [his]);
    expect([a.honoured, b.honoured]).toEqual([[hers], [his]]);
    expect(worker.heard()).toEqual(["t1", "t2"]);
    expect(worker.goOn("t1", "working")).toBe(1);
    expect(worker.goOn("t2", "completed")).toBe(1);
    expect(worker.goOn("t1", "completed")).toBe(1);
    await until(() => a.notes().length === 2 && b.notes().length === 1, { what: "the notifications" });
    expect(a.notes().map(({ params }) => [params.taskId, params.status])).toEqual([
      [hers, "working"],
      [hers, "completed"],
    ]);
    expect(b.notes().map(({ params }) => [params.taskId, params.status])).toEqual([[his, "completed"]]);
    // What is over is not listened for any more.
    await until(() => worker.heard().length === 0, { what: "the end of the listening" });
  });
});

test("nobody but the owner may listen for a task, however the id is written", async () => {
  const worker = await startWorker();
  const { url } = await startGoblin({ mcpServers: { worker: worker.entry }, gateway: { auth: { tokens } } });
  const [alice, bob] = tokens.map((token) => stateless(url, { token, capabilities }));
  const taskId = await begin(alice!);
  const foreign = await listenFor(bob!, [taskId, "worker+t1", "t1", `worker+.t1`]);
  expect(foreign.honoured).toBeUndefined();
  expect(worker.heard()).toEqual([]);
  const own = await listenFor(alice!, [taskId]);
  worker.goOn("t1", "completed");
  await until(() => own.notes().length === 1, { what: "the notification" });
  await bob!.call("tools/list");
  expect(foreign.notes()).toEqual([]);
});

test("a client that did not declare the extension is told so", async () => {
  const worker = await startWorker();
  const { url } = await startGoblin({ mcpServers: { worker: worker.entry } });
  const taskId = await begin(stateless(url, { capabilities }));
  const stream = await stateless(url).stream("subscriptions/listen", { notifications: { taskIds: [taskId] } });
  const { error } = await stream.next((m) => m.error);
  expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: capabilities } });
  expect(worker.heard()).toEqual([]);
});

test("what the server does not report is not acknowledged", async () => {
  const worker = await startWorker({ refused: ["t1"] });
  const { url } = await startGoblin({ mcpServers: { worker: worker.entry } });
  const client = stateless(url, { capabilities });
  const ids = [await begin(client), await begin(client)];
  expect((await listenFor(client, ids)).honoured).toEqual([ids[1]]);
});

test.each(["stream", "connection"])("a %s that ends is opened again, and goes on", async (what) => {
  const worker = await startWorker();
  const { url, gateway } = await startGoblin({ mcpServers: { worker: worker.entry } });
  const client = stateless(url, { capabilities });
  const taskId = await begin(client);
  const { notes } = await listenFor(client, [taskId]);
  if (what === "stream") worker.cutStreams();
  else await gateway.servers.roster.get("worker")!.backend.restart();
  await until(() => worker.opened() === 2 && worker.heard().length === 1, { what: "the next stream" });
  worker.goOn("t1", "completed");
  await until(() => notes().length === 1, { what: "the notification" });
});

test("a session hears of its own tasks without asking, and of nobody else's", async () => {
  const worker = await startWorker();
  const { url } = await startGoblin({ mcpServers: { worker: worker.entry } });
  const enter = async () => {
    const client = rawHttp(url);
    await client.initialize("2025-11-25", capabilities);
    const stream = await client.stream({});
    const { message } = await client.call("tools/call", { name: "worker_work", arguments: {} });
    return { client, stream, taskId: message.result.taskId as string };
  };
  const [alice, bob] = [await enter(), await enter()];
  await until(() => worker.heard().length === 2, { what: "the listening" });
  worker.goOn("t1", "completed");
  worker.goOn("t2", "failed");
  const [hers, his] = await Promise.all([alice, bob].map(({ stream }) => stream.next((m) => m.method === NOTE)));
  expect(hers!.params).toEqual({ taskId: alice.taskId, status: "completed" });
  expect(his!.params).toEqual({ taskId: bob.taskId, status: "failed" });
  const told = [alice, bob].map(({ stream }) => stream.messages.filter((m) => m.method === NOTE).length);
  expect(told).toEqual([1, 1]);
});

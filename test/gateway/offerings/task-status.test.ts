/**
 * What a server says of a task that it runs: it reaches the client whose task it is, under the id
 * that this client knows, and nobody else.
 */
import { EventEmitter } from "node:events";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateTaskResultSchema,
  GetTaskResultSchema,
  TaskStatusNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, test } from "vitest";
import type { Session } from "../../../src/core/session/session.ts";
import type { SessionEvents } from "../../../src/core/session/store.ts";
import { type TaskParts, Tasks } from "../../../src/core/session/tasks.ts";
import type { Snapshot } from "../../../src/upstream/catalog/snapshot.ts";
import type { ServerEvents } from "../../../src/upstream/servers/events.ts";
import { disposeAll, onDispose } from "../../fixtures/dispose.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { until } from "../../fixtures/until.ts";

afterEach(disposeAll);

/** A server of the SDK with its own store of tasks; a task ends when its time is over. */
const SERVER = `
  import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
  import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
  import { InMemoryTaskStore, InMemoryTaskMessageQueue } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
  const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
  const server = new McpServer({ name: "worker", version: "1.0.0" }, { capabilities: { tasks }, taskStore: new InMemoryTaskStore(), taskMessageQueue: new InMemoryTaskMessageQueue() });
  server.experimental.tasks.registerToolTask("work", { description: "Works for a while", execution: { taskSupport: "required" } }, {
    async createTask({ taskStore, taskRequestedTtl }) {
      const task = await taskStore.createTask({ ttl: taskRequestedTtl, pollInterval: 50 });
      setTimeout(() => taskStore.storeTaskResult(task.taskId, "completed", { content: [{ type: "text", text: "done" }] }), 150);
      return { task };
    },
    getTask: ({ taskId, taskStore }) => taskStore.getTask(taskId),
    getTaskResult: ({ taskId, taskStore }) => taskStore.getTaskResult(taskId),
  });
  await server.connect(new StdioServerTransport());`;

async function connect(url: string) {
  const client = new Client({ name: "c", version: "1" }, { capabilities: { tasks: { requests: {} } } });
  const told: { taskId: string; status: string }[] = [];
  client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void told.push(params));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
  onDispose(() => client.close());
  const begin = async () => {
    const params = { name: "worker_work", arguments: {}, task: { ttl: 60_000 } };
    return (await client.request({ method: "tools/call", params }, CreateTaskResultSchema)).task;
  };
  return { client, told, begin };
}

test("the end of a task is told to its owner, of two clients each of its own", async () => {
  const worker = { command: process.execPath, args: ["--input-type=module", "-e", SERVER] };
  const { url } = await startGoblin({ mcpServers: { worker } });
  const [one, two] = [await connect(url), await connect(url)];
  const tasks = await Promise.all([one.begin(), two.begin()]);
  expect(tasks.map(({ taskId }) => taskId.startsWith("worker+"))).toEqual([true, true]);
  await until(() => one.told.length > 0 && two.told.length > 0);
  expect(one.told).toMatchObject([{ taskId: tasks[0].taskId, status: "completed" }]);
  expect(two.told).toMatchObject([{ taskId: tasks[1].taskId, status: "completed" }]);
  const { taskId } = one.told[0]!;
  expect(await one.client.request({ method: "tasks/get", params: { taskId } }, GetTaskResultSchema)).toMatchObject({
    taskId,
    status: "completed",
  });
});

describe("the book of tasks", () => {
  function book() {
    const heard: string[] = [];
    const gone = new Set<string>();
    const servers = Object.assign(new EventEmitter<ServerEvents>(), {
      ownerOf: () => undefined,
      isUsable: () => true,
      watchTask: async () => true,
      unwatchTask: async () => {},
    });
    const sessions = Object.assign(new EventEmitter<SessionEvents>(), {
      get: (key: string) =>
        gone.has(key) ? undefined : ({ notify: (text: string) => void heard.push(`${key} ${text}`) } as Session),
    });
    const resources = { prefixOf: (serverId: string) => serverId.toUpperCase() };
    const catalog = { snapshot: { resources } as Snapshot };
    const tasks = new Tasks({ servers, sessions, catalog, sealer: { mark: () => "s" } } as unknown as TaskParts);
    const method = "notifications/tasks/status";
    const status = "working";
    const said = (server: string, taskId: string): void =>
      void servers.emit(
        "taskStatus",
        server,
        { taskId, method, params: JSON.stringify({ taskId, status }) },
        undefined,
      );
    const began = (server: string, taskId: string, key: string): void =>
      void tasks.started(server, taskId, { key, scope: key, taskOwner: key, visibility: undefined });
    return { tasks, heard, gone, said, began, servers, sessions };
  }
  const text = (key: string, taskId: string): string =>
    `${key} {"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"${taskId}","status":"working"}}`;
  const turn = () => new Promise(setImmediate);

  test("keeps what is said before the answer was seen, and tells it after the answer", async () => {
    const { heard, said, began } = book();
    said("a", "1");
    said("a", "1");
    began("a", "1", "me");
    expect(heard).toEqual([]);
    await turn();
    expect(heard).toEqual([text("me", "A+s.1"), text("me", "A+s.1")]);
  });

  test("tells the same id of two servers apart, and forgets clients and servers that went", async () => {
    const { heard, gone, said, began, servers, sessions } = book();
    began("a", "1", "me");
    began("b", "1", "you");
    said("a", "1");
    said("b", "1");
    sessions.emit("ended", { key: "me" } as Session);
    said("a", "1");
    servers.emit("removed", "b");
    said("b", "1");
    gone.add("they");
    began("b", "1", "they");
    await turn();
    expect(heard).toEqual([text("me", "A+s.1"), text("you", "B+s.1")]);
  });

  test("is bounded both ways", async () => {
    const { heard, said, began } = book();
    for (let i = 0; i <= 1000; i++) began("a", String(i), "me");
    said("a", "0");
    said("a", "1000");
    for (let i = 0; i < 10_000; i++) began("c", String(i), `owner ${i}`);
    said("a", "1");
    for (let i = 0; i <= 100; i++) said("b", String(i));
    for (const i of [0, 1, 100]) began("b", String(i), "me");
    await turn();
    expect(heard).toEqual([text("me", "A+s.1000"), text("me", "B+s.1"), text("me", "B+s.100")]);
  });
});

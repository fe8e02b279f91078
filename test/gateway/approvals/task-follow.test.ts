/**
 * A call that was held as a task of the gateway, and becomes a task of its server: its client goes
 * on with the id that it knows.
 */
import { afterEach, expect, test } from "vitest";
import { operator } from "../../fixtures/approvals.ts";
import { extensionServer } from "../../fixtures/extension-server.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, until } from "../../fixtures/peers.ts";
import { withoutSession, withSession } from "../../fixtures/task-clients.ts";

afterEach(disposeAll);

/** A server with a handshake: `work` can be a task, `plain` cannot; `tell` tells of all tasks. */
const SERVER = `
  const tasks = new Map();
  const out = (m) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\\n");
  const tool = (name, more) => ({ name, inputSchema: { type: "object" }, ...more });
  const answers = {
    initialize: () => ({ protocolVersion: "2025-11-25", serverInfo: { name: "w", version: "1" },
      capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } }),
    "tools/list": () => ({ tools: [tool("work", { execution: { taskSupport: "optional" } }), tool("plain"), tool("tell")] }),
    "tools/call": ({ name, task }) => {
      for (const each of tasks.values()) if (name === "tell") out({ method: "notifications/tasks/status", params: each });
      if (!task) return { content: [{ type: "text", text: name }] };
      const made = { taskId: "t" + (tasks.size + 1), status: "working", createdAt: "2026-01-01T00:00:00Z", asked: name };
      tasks.set(made.taskId, made);
      return { task: made };
    },
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
const tokens = { ada: "the-long-token-of-ada", bob: "the-long-token-of-bob", ops: "the-long-token-of-ops" };
const gateway = {
  auth: { clients: { ada: { token: tokens.ada }, bob: { token: tokens.bob } } },
  admin: { tokens: [tokens.ops] },
};

async function start(worker: Record<string, unknown>) {
  const policy = { rules: [{ effect: "ask", tools: ["worker/work", "worker/plain"] }] };
  const { url, origin } = await startGoblin({ mcpServers: { worker }, policy, gateway });
  const ops = operator(origin, tokens.ops);
  return { url, ops, allow: async () => void (await ops.allow((await ops.held())[0]!.id)) };
}

test("with a handshake: states, result, list and cancellation are the server's, under the known id", async () => {
  const { url, allow } = await start({ command: process.execPath, args: ["-e", SERVER], share: "all" });
  const ada = await withSession(url, { token: tokens.ada });
  const bob = await withSession(url, { token: tokens.bob });
  const heard = await ada.stream();
  const { taskId } = await ada.begin("worker_work", {});
  await allow();
  await until(async () => (await ada.get(taskId)).asked === "work");
  expect(await ada.get(taskId)).toEqual({
    taskId,
    status: "working",
    createdAt: "2026-01-01T00:00:00Z",
    asked: "work",
  });
  const listed = (await ada.call("tasks/list")).result.tasks;
  expect(listed).toMatchObject([{ taskId, asked: "work" }]);
  expect((await bob.call("tasks/get", { taskId })).error.message).toBe(`Task not found: ${taskId}`);
  await bob.call("tools/call", { name: "worker_tell", arguments: {} });
  expect((await heard.next((m) => m.params?.asked === "work")).params.taskId).toBe(taskId);
  const { result } = await ada.call("tasks/result", { taskId });
  expect([result.content[0].text, result._meta["io.modelcontextprotocol/related-task"]]).toEqual([
    "result of t1",
    { taskId },
  ]);
  expect((await ada.call("tasks/cancel", { taskId })).result).toMatchObject({ taskId, status: "cancelled" });
  expect((await ada.get(taskId)).status).toBe("cancelled");
  // A tool that cannot be a task is asked for its result.
  const plain = await ada.begin("worker_plain", {});
  await allow();
  const done = await ada.call("tasks/result", { taskId: plain.taskId });
  expect(done.result.content[0].text).toBe("plain");
  expect((await ada.call("tasks/list")).result.tasks.map((task: { taskId: string }) => task.taskId)).toEqual([
    plain.taskId,
    taskId,
  ]);
});

test("without a handshake: the same, for polls and for streams", async () => {
  const { url, allow } = await start({ type: "http", url: await extensionServer() });
  const ada = withoutSession(url, { token: tokens.ada });
  const { taskId } = await ada.begin("worker_work", {});
  await allow();
  await until(async () => (await ada.get(taskId)).statusMessage === undefined);
  expect(await ada.get(taskId)).toMatchObject({ taskId, status: "working", resultType: "complete" });
  expect((await ada.call("tasks/update", { taskId, inputResponses: {} })).result).toMatchObject({
    resultType: "complete",
  });
  await ada.call("tasks/cancel", { taskId });
  expect((await ada.get(taskId)).status).toBe("cancelled");
});

test("states, list and result of the task are masked and shaped like those of a call (A-M1)", async () => {
  const token = `gh${"p_"}${"a1B2".repeat(9)}`;
  const program = SERVER.replace('"result of " + taskId', `"${token} " + "long ".repeat(5000)`).replace(
    "asked: name",
    `asked: name, statusMessage: "with ${token}"`,
  );
  const policy = { rules: [{ effect: "ask", tools: ["worker/work"] }] };
  const { url, origin } = await startGoblin({
    mcpServers: { worker: { command: process.execPath, args: ["-e", program] } },
    policy,
    masking: { results: true },
    results: { maxTokens: 500, over: "cut" },
  });
  const ops = operator(origin);
  const client = await withSession(url);
  const { taskId } = await client.begin("worker_work", {});
  await ops.allow((await ops.held())[0]!.id);
  const state = await until(async () => {
    const task = await client.get(taskId);
    return task.asked === "work" ? task : undefined;
  });
  expect(state.statusMessage).toBe("with [masked github-token]");
  const { tasks } = (await client.call("tasks/list")).result;
  expect(tasks).toMatchObject([{ taskId, statusMessage: "with [masked github-token]" }]);
  const { result } = await client.call("tasks/result", { taskId });
  const text = JSON.stringify(result);
  expect(text).toContain("[masked github-token]");
  expect(text).not.toContain(token);
  expect(text.length).toBeLessThan(10_000);
});

/** Calls that wait for a person, as tasks of the gateway, for clients that take them. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, CreateTaskResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, test } from "vitest";
import { askAdd, operator, runsOf, startAsking } from "../../fixtures/approvals.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { connectV2, disposeAll, onDispose, startScripted, until } from "../../fixtures/peers.ts";
import { TASKS, type TaskClient, withoutSession, withSession } from "../../fixtures/task-clients.ts";

afterEach(disposeAll);

const ID = /^goblin:approval\+[\w-]{22}\.[0-9a-f]{10}$/;
const sum = { a: 1, b: 2 };
const waits = "Waiting for a person to approve web_add";

const kinds: [string, (url: string) => Promise<TaskClient>][] = [
  ["with a session", (url) => withSession(url)],
  ["without one", async (url) => withoutSession(url)],
];

describe.each(kinds)("a client %s", (kind, connect) => {
  const isStateless = kind === "without one";

  /** How its task ended: the state, and the result or the error. */
  async function ending(client: TaskClient, taskId: string) {
    const state = await until(async () => {
      const task = await client.get(taskId);
      return ["completed", "failed", "cancelled"].includes(task.status) ? task : undefined;
    });
    if (isStateless) return { status: state.status, result: state.result, error: state.error, state };
    const { result, error } = await client.call("tasks/result", { taskId });
    return { status: state.status, result, error, state };
  }

  test("gets a task at once, and its result when an operator has allowed the call", async () => {
    const { url, ops, web } = await startAsking();
    const client = await connect(url);
    const task = await client.begin("web_add", sum);
    const [lasts, polls] = isStateless ? ["ttlMs", "pollIntervalMs"] : ["ttl", "pollInterval"];
    expect(task).toMatchObject({ status: "working", statusMessage: waits, [lasts]: 900_000, [polls]: 1000 });
    expect(task.taskId).toMatch(ID);
    expect(task.resultType).toBe(isStateless ? "task" : undefined);
    expect(await client.get(task.taskId)).toMatchObject({
      taskId: task.taskId,
      status: "working",
      statusMessage: waits,
    });
    const [row] = await ops.held();
    expect(await runsOf(web)).toEqual([]);
    await ops.allow(row!.id);
    const { status, result, state } = await ending(client, task.taskId);
    expect([status, state.statusMessage, result.content[0].text]).toEqual(["completed", "It has run", "3"]);
    if (!isStateless) expect(result._meta["io.modelcontextprotocol/related-task"]).toEqual({ taskId: task.taskId });
    const runs = await runsOf(web);
    expect(runs).toHaveLength(1);
    expect(runs[0]).not.toHaveProperty("task");
    expect((await ops.list())[0]).toMatchObject({ state: "allowed", runs: 1, outcome: "ok" });
  });

  test("has a task that failed when the call is denied, or nobody answers", async () => {
    const { url, ops, web } = await startAsking();
    const client = await connect(url);
    const { taskId } = await client.begin("web_add", sum);
    const [row] = await ops.held();
    await ops.deny(row!.id, { reason: "not today" });
    const { status, error, state } = await ending(client, taskId);
    const words =
      "Not approved: web_add needs a person's approval, and a person denied it (not today). It was not run. " +
      "Do not try it again, and do not try to reach the same in another way: tell the user.";
    expect([status, state.statusMessage]).toEqual(["failed", words]);
    expect(error).toMatchObject({ code: -32014, message: words, data: { approval: row!.id, why: "denied" } });
    expect(await runsOf(web)).toEqual([]);
  });

  test("has a task that failed when nobody answers in time", async () => {
    const { url, web } = await startAsking({ approvals: { timeoutMs: 200 } });
    const client = await connect(url);
    const { taskId } = await client.begin("web_add", sum);
    const { status, error } = await ending(client, taskId);
    expect([status, error.message]).toEqual(["failed", expect.stringContaining("nobody answered within")]);
    expect(await runsOf(web)).toEqual([]);
  });

  test("cancels its task: the question is over, and nothing runs", async () => {
    const { url, ops, web } = await startAsking();
    const client = await connect(url);
    const { taskId } = await client.begin("web_add", sum);
    const [row] = await ops.held();
    const { result } = await client.call("tasks/cancel", { taskId });
    if (isStateless) expect(result).toMatchObject({ resultType: "complete" });
    else expect(result).toMatchObject({ taskId, status: "cancelled" });
    expect(await client.get(taskId)).toMatchObject({ status: "cancelled", statusMessage: "Cancelled by the client" });
    expect((await ops.list())[0]).toMatchObject({ state: "ended", ended: "cancelled" });
    expect((await ops.allow(row!.id)).body.error).toMatchObject({ code: "APPROVAL_ENDED" });
    const again = await client.call("tasks/cancel", { taskId });
    if (isStateless) expect(again.result).toMatchObject({ resultType: "complete" });
    else
      expect(again.error).toMatchObject({ code: -32602, message: "Cannot cancel the task: it is cancelled already" });
    if (!isStateless) expect((await client.call("tasks/result", { taskId })).error).toMatchObject({ code: -32800 });
    expect(await runsOf(web)).toEqual([]);
  });

  test("cancels a call that runs: its server is told", async () => {
    const rules = [{ effect: "ask", tools: ["web/sleep"] }];
    const { url, ops, web } = await startAsking({ policy: { rules } });
    const client = await connect(url);
    const { taskId } = await client.begin("web_sleep", { ms: 60_000 });
    await ops.allow((await ops.held())[0]!.id);
    await until(async () => (await runsOf(web, "sleep")).length === 1);
    expect(await client.get(taskId)).toMatchObject({
      status: "working",
      statusMessage: "A person has approved it: it runs",
    });
    await client.call("tasks/cancel", { taskId });
    expect(await client.get(taskId)).toMatchObject({ status: "cancelled" });
    await until(async () => (await web.received("notifications/cancelled")).length === 1);
  });

  test("gets a task for a call through a meta tool, too", async () => {
    const { url, ops, web } = await startAsking();
    const client = await connect(url);
    const { taskId } = await client.begin("call_tool", { name: "web_add", arguments: sum });
    expect(await client.get(taskId)).toMatchObject({ status: "working", statusMessage: waits });
    await ops.allow((await ops.held())[0]!.id);
    const { status, result } = await ending(client, taskId);
    expect([status, result.content[0].text]).toEqual(["completed", "3"]);
    expect(await runsOf(web)).toMatchObject([{ name: "add", arguments: sum }]);
  });

  test("gets a large result whole", async () => {
    const { url, ops } = await startAsking({ policy: { rules: [{ effect: "ask", tools: ["web/big"] }] } });
    const client = await connect(url);
    const { taskId } = await client.begin("web_big", { bytes: 3_000_000 });
    await ops.allow((await ops.held())[0]!.id);
    const { status, result } = await ending(client, taskId);
    expect([status, result.content[0].text.length]).toEqual(["completed", 3_000_000]);
  });

  test("gets the answer itself where nobody is asked, or where the call was granted", async () => {
    const { url, ops } = await startAsking();
    const client = await connect(url);
    const params = { arguments: { text: "x" }, ...(!isStateless && { task: {} }) };
    const plain = await client.call("tools/call", { name: "web_echo", ...params });
    expect(plain.result.structuredContent).toEqual({ text: "x" });
    const { taskId } = await client.begin("web_add", sum);
    await ops.allow((await ops.held())[0]!.id, { for: "hour" });
    await ending(client, taskId);
    const granted = await client.call("tools/call", { name: "web_add", arguments: sum });
    expect(granted.result.content[0].text).toBe("3");
  });

  test.each(["legacy", "modern"] as const)("is asked what a %s server asks, by the task", async (era) => {
    const transport = era === "modern" ? "http" : "stdio";
    const web = await startScripted({ name: "web", era, transport });
    const policy = { rules: [{ effect: "ask", tools: ["web/ask"] }] };
    const { url, origin } = await startGoblin({ mcpServers: { web: web.entry }, policy });
    const capabilities = { elicitation: { form: {} } };
    const session = isStateless ? undefined : await withSession(url, { capabilities });
    const client = session ?? withoutSession(url, { capabilities });
    const stream = await session?.stream();
    const { taskId } = await client.begin("web_ask", {});
    const ops = operator(origin);
    await ops.allow((await ops.held())[0]!.id);
    const content = { name: "Ada" };
    if (session) {
      const question = await stream!.next((message) => message.method === "elicitation/create");
      expect(question.params).toMatchObject({
        message: "What is your name?",
        _meta: { "io.modelcontextprotocol/related-task": { taskId } },
      });
      expect(await client.get(taskId)).toMatchObject({ status: "input_required" });
      await session.answer(question.id, { action: "accept", content });
    } else {
      const state = await until(async () => {
        const task = await client.get(taskId);
        return task.status === "input_required" ? task : undefined;
      });
      const [key] = Object.keys(state.inputRequests);
      expect(state.inputRequests[key!]).toMatchObject({
        method: "elicitation/create",
        params: { message: "What is your name?" },
      });
      const inputResponses = { nobody: {}, [key!]: { action: "accept", content } };
      expect((await client.call("tasks/update", { taskId, inputResponses })).result).toMatchObject({
        resultType: "complete",
      });
    }
    const { status, result } = await ending(client, taskId);
    expect([status, JSON.stringify(result)]).toEqual(["completed", expect.stringContaining("Ada")]);
  });
});

describe("the SDK's client of 2025-11-25", () => {
  async function connect(url: string, token?: string) {
    const client = new Client(
      { name: "tasks-v1", version: "1" },
      { capabilities: { tasks: {} }, enforceStrictCapabilities: true },
    );
    const requestInit = { headers: { ...(token && { authorization: `Bearer ${token}` }) } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }) as never);
    onDispose(() => client.close());
    return client;
  }

  test("follows a task from the start to the result, lists it, and waits for the result of another", async () => {
    const { url, ops } = await startAsking();
    const client = await connect(url);
    expect(client.getServerCapabilities()?.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
    const seen: string[] = [];
    let text = "";
    const { tasks } = client.experimental;
    for await (const message of tasks.callToolStream({ name: "web_add", arguments: sum }, CallToolResultSchema, {
      task: { ttl: 1000 },
    })) {
      if (message.type === "taskCreated") {
        expect((await tasks.listTasks()).tasks).toMatchObject([{ taskId: message.task.taskId, status: "working" }]);
        await ops.allow((await ops.held())[0]!.id);
      }
      if (message.type === "result") text = (message.result as { content: { text: string }[] }).content[0]!.text;
      if (seen.at(-1) !== message.type) seen.push(message.type);
    }
    expect([seen, text]).toEqual([["taskCreated", "taskStatus", "result"], "3"]);
    const params = { name: "web_add", arguments: { a: 2, b: 3 }, task: {} };
    const { task } = await client.request({ method: "tools/call", params }, CreateTaskResultSchema);
    const result = tasks.getTaskResult(task.taskId, CallToolResultSchema);
    await ops.allow((await ops.held())[0]!.id);
    expect(await result).toMatchObject({ content: [{ text: "5" }] });
  });
});

test("a modern client of the SDK, which has no tasks, waits as before", async () => {
  const { url, ops } = await startAsking();
  const { client } = await connectV2({ url, era: "modern" });
  const call = client.callTool({ name: "web_add", arguments: sum });
  await ops.allow((await ops.held())[0]!.id);
  expect(await call).toMatchObject({ content: [{ text: "3" }] });
});

test("tasks are offered only to clients whose calls may wait", async () => {
  const tokens = { ada: "the-long-token-of-ada", bob: "the-long-token-of-bob" };
  const clients = { ada: { token: tokens.ada }, bob: { token: tokens.bob } };
  const rules = [{ ...askAdd, who: { clients: ["ada"] } }];
  const { url } = await startAsking({ gateway: { auth: { clients } }, policy: { rules } });
  for (const [token, isOffered] of [
    [tokens.ada, true],
    [tokens.bob, false],
  ] as const) {
    const [session, bare] = [await withSession(url, { token }), withoutSession(url, { token })];
    const { extensions } = (await bare.call("server/discover")).result.capabilities;
    expect(["tasks" in session.offered, extensions?.[TASKS]]).toEqual([isOffered, isOffered ? {} : undefined]);
    const code = isOffered ? -32602 : -32601;
    const params = { taskId: "web+x.1" };
    expect([
      (await session.call("tasks/get", params)).error.code,
      (await bare.call("tasks/get", params)).error.code,
    ]).toEqual([code, code]);
  }
});

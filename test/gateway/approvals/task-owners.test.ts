import { afterEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { askAdd, runsOf, startAsking } from "../../fixtures/approvals.ts";
import { disposeAll, until } from "../../fixtures/peers.ts";
import { withoutSession, withSession } from "../../fixtures/task-clients.ts";

afterEach(disposeAll);

const token = { ada: "the-long-token-of-ada", bob: "the-long-token-of-bob", ops: "the-long-token-of-ops" };
const clients = { ada: { token: token.ada }, bob: { token: token.bob } };
const gateway = { auth: { clients }, admin: { tokens: [token.ops] } };
const sum = { a: 1, b: 2 };
const methods = ["tasks/get", "tasks/result", "tasks/cancel", "tasks/update"];

test("nobody else can see, fetch, answer or cancel a task, nor make up an id", async () => {
  const { url, ops, web } = await startAsking({ gateway }, token.ops);
  const ada = await withSession(url, { token: token.ada });
  const modernAda = withoutSession(url, { token: token.ada });
  const others = [await withSession(url, { token: token.bob }), withoutSession(url, { token: token.bob })];
  const { taskId } = await ada.begin("web_add", sum);
  const [row] = await ops.held();
  const seal = /\+(.*)\./.exec(taskId)![1]!;
  const changed = `${seal.slice(0, -1)}${seal.endsWith("A") ? "B" : "A"}`;
  const guesses = [
    `goblin:approval+${changed}.${row!.id}`,
    `goblin:approval+.${row!.id}`,
    `goblin:approval+${seal}~x.${row!.id}`,
    `goblin:approval+${seal}.${row!.id}0`,
    `web+${seal}.${row!.id}`,
    row!.id,
  ];
  const problems = async (client: (typeof others)[number], ids: readonly string[]) => {
    const found = new Set<string>();
    for (const method of methods) {
      for (const id of ids) {
        const { error, result } = await client.call(method, { taskId: id, inputResponses: {} });
        found.add(result ? `${method} worked` : error.message.replace(id, "<id>"));
      }
    }
    return [...found];
  };
  expect(await problems(others[0]!, [taskId, ...guesses])).toEqual(["Task not found: <id>"]);
  expect(await problems(ada, guesses)).toEqual(["Task not found: <id>"]);
  // This version has no tasks/result.
  expect(await problems(others[1]!, [taskId])).toEqual(["Task not found: <id>", "Method not found: tasks/result"]);
  expect((await others[0]!.call("tasks/list")).result.tasks).toEqual([]);
  const listening = await withoutSession(url, { token: token.bob }).stream("subscriptions/listen", {
    notifications: { taskIds: [taskId], toolsListChanged: true },
  });
  const acknowledged = await listening.next((m) => m.method === "notifications/subscriptions/acknowledged");
  expect(acknowledged.params.notifications).toEqual({ toolsListChanged: true });
  expect((await ops.list())[0]).toMatchObject({ state: "held" });
  // The same principal, in another way.
  expect(await modernAda.get(taskId)).toMatchObject({ taskId, status: "working", ttlMs: 900_000 });
  expect((await withoutSession(`${url}/s/web`, { token: token.ada }).call("tasks/get", { taskId })).error.code).toBe(
    -32602,
  );
  await ops.allow(row!.id);
  await until(async () => (await ada.get(taskId)).status === "completed");
  expect((await others[0]!.call("tasks/result", { taskId })).error.message).toBe(`Task not found: ${taskId}`);
  expect(await runsOf(web)).toHaveLength(1);
});

describe("a client that has gone", () => {
  test("leaves nothing that could run; what had run can be fetched by its principal", async () => {
    const { url, ops, web } = await startAsking({ gateway }, token.ops);
    const ada = await withSession(url, { token: token.ada });
    const done = await ada.begin("web_add", sum);
    await ops.allow((await ops.held())[0]!.id);
    await until(async () => (await ada.get(done.taskId)).status === "completed");
    const held = await ada.begin("web_add", { a: 5, b: 5 });
    const [row] = await ops.held();
    await ada.leave();
    await until(async () => (await ops.list()).every(({ state }) => state !== "held"));
    expect((await ops.allow(row!.id)).body.error).toMatchObject({ code: "APPROVAL_ENDED" });
    const later = await withSession(url, { token: token.ada });
    expect(await later.get(held.taskId)).toMatchObject({ status: "cancelled", statusMessage: "Its session has ended" });
    const { result } = await later.call("tasks/result", { taskId: done.taskId });
    expect(result.content[0].text).toBe("3");
    expect(await runsOf(web)).toHaveLength(1);
  });

  test("without a token loses its tasks with its session", async () => {
    const { url, ops } = await startAsking();
    const [one, two] = [await withSession(url), await withSession(url)];
    const { taskId } = await one.begin("web_add", sum);
    await ops.held();
    expect((await two.call("tasks/get", { taskId })).error.code).toBe(-32602);
    await one.leave();
    await until(async () => (await ops.list())[0]?.state === "ended");
  });

  test("whose token is taken away has no task any more", async () => {
    const { url, ops, web, gateway: running } = await startAsking({ gateway }, token.ops);
    const ada = withoutSession(url, { token: token.ada });
    await ada.begin("web_add", sum);
    await ops.held();
    const config = {
      mcpServers: { web: web.entry },
      policy: { rules: [askAdd] },
      gateway: { port: 0, ...gateway, auth: { clients: { bob: clients.bob } } },
    };
    running.reload(parseConfig(JSON.stringify(config), { file: "test.json", env: process.env }).config);
    await until(async () => (await ops.list())[0]?.state === "ended");
    expect(await runsOf(web)).toEqual([]);
  });
});

test("a change of the rules while a task waits is a new question of the same task", async () => {
  const { url, ops, web, gateway: running } = await startAsking();
  const client = withoutSession(url);
  const { taskId } = await client.begin("web_add", sum);
  const [row] = await ops.held();
  const policy = { rules: [{ ...askAdd, set: { b: 40 } }] };
  const config = { mcpServers: { web: web.entry }, policy, gateway: { port: 0 } };
  running.reload(parseConfig(JSON.stringify(config), { file: "test.json", env: process.env }).config);
  await ops.allow(row!.id);
  const [second] = await ops.held();
  expect(second).toMatchObject({ arguments: '{"a":1,"b":40}' });
  expect(await client.get(taskId)).toMatchObject({
    status: "working",
    statusMessage: "Waiting for a person to approve web_add",
  });
  await ops.allow(second!.id);
  const { result } = await until(async () => {
    const task = await client.get(taskId);
    return task.status === "completed" ? task : undefined;
  });
  expect(result.content[0].text).toBe("41");
});

test("who cannot have tasks does not learn that others have them; a task outlives the rule that asked", async () => {
  const rules = [{ ...askAdd, who: { principals: ["ada"] } }];
  const { url, ops, web, gateway: running } = await startAsking({ gateway, policy: { rules } }, token.ops);
  const bob = [await withSession(url, { token: token.bob }), withoutSession(url, { token: token.bob })];
  const codes = () => Promise.all(bob.map(async (one) => (await one.call("tasks/get", { taskId: "x" })).error.code));
  expect(await codes()).toEqual([-32601, -32601]);
  const ada = withoutSession(url, { token: token.ada });
  const { taskId } = await ada.begin("web_add", sum);
  expect(await codes()).toEqual([-32601, -32601]);
  await ops.allow((await ops.held())[0]!.id);
  await until(async () => (await ada.get(taskId)).status === "completed");
  const config = { mcpServers: { web: web.entry }, gateway: { port: 0, ...gateway } };
  running.reload(parseConfig(JSON.stringify(config), { file: "test.json", env: process.env }).config);
  expect((await ada.get(taskId)).result.content[0].text).toBe("3");
});

test("its states are told to a session, and to who listens; the operator's link and a trusted user's consent come by the task", async () => {
  const { url, origin, ops } = await startAsking({ gateway, approvals: { trustClients: ["bob"] } }, token.ops);
  const session = await withSession(url, { token: token.ada });
  const stream = await session.stream();
  const first = await session.begin("web_add", sum);
  const ada = withoutSession(url, { token: token.ada, capabilities: { elicitation: { url: {} } } });
  const { taskId } = await ada.begin("web_add", { a: 2, b: 2 });
  const [one, two] = await ops.held(2);
  const listening = await ada.stream("subscriptions/listen", { notifications: { taskIds: [taskId] } });
  await listening.next((m) => m.method === "notifications/subscriptions/acknowledged");
  const state = await until(async () => {
    const task = await ada.get(taskId);
    return task.status === "input_required" ? task : undefined;
  });
  expect(state.inputRequests.q1).toMatchObject({
    method: "elicitation/create",
    params: { mode: "url", url: `${origin}/ui/approvals/${two!.id}` },
  });
  // That the link was opened decides nothing.
  await ada.call("tasks/update", { taskId, inputResponses: { q1: { action: "accept" } } });
  expect((await ada.get(taskId)).status).toBe("working");
  expect((await ops.list())[1]).toMatchObject({ state: "held" });
  await ops.allow(one!.id);
  await ops.allow(two!.id);
  const told = await stream.next((m) => m.params?.status === "completed");
  expect(told).toMatchObject({ method: "notifications/tasks/status", params: { taskId: first.taskId } });
  const heard = await listening.next((m) => m.params?.status === "completed");
  expect(heard).toMatchObject({
    method: "notifications/tasks",
    params: { taskId, result: { content: [{ text: "4" }] } },
  });

  const bob = withoutSession(url, { token: token.bob, capabilities: { elicitation: {} } });
  const own = await bob.begin("web_add", { a: 3, b: 3 });
  const { inputRequests } = await until(async () => {
    const task = await bob.get(own.taskId);
    return task.status === "input_required" ? task : undefined;
  });
  expect(inputRequests.q1.params.message).toContain('with these arguments?\n{"a":3,"b":3}');
  await bob.call("tasks/update", { taskId: own.taskId, inputResponses: { q1: { action: "accept", content: {} } } });
  await until(async () => (await bob.get(own.taskId)).result?.content[0].text === "6");
});

test("a link that the server wants opened first is a question of the task", async () => {
  const { url, ops, web } = await startAsking({ policy: { rules: [{ effect: "ask", tools: ["web/fail"] }] } });
  const client = withoutSession(url, { capabilities: { elicitation: { url: {} } } });
  const link = { mode: "url", elicitationId: "e1", url: "https://example.com/open", message: "Open this" };
  const args = { code: -32042, message: "open the link", data: { elicitations: [link] } };
  const { taskId } = await client.begin("web_fail", args);
  await ops.allow((await ops.held())[0]!.id, { for: "hour" });
  const asked = async (key: string) => {
    const task = await until(async () => {
      const state = await client.get(taskId);
      return state.inputRequests?.[key]?.params.url === link.url ? state : undefined;
    });
    return task.inputRequests[key].params;
  };
  const answer = (key: string, action: string) =>
    client.call("tasks/update", { taskId, inputResponses: { [key]: { action } } });
  // The first question was the operator's link.
  expect(await asked("q2")).toMatchObject({ mode: "url", message: "Open this" });
  await answer("q2", "accept");
  await asked("q3");
  expect(await runsOf(web, "fail")).toHaveLength(2);
  await answer("q3", "decline");
  await until(async () => (await client.get(taskId)).status === "failed");
});

test("a server that wants thousands of links opened is refused, as with questions", async () => {
  const { url, ops } = await startAsking({ policy: { rules: [{ effect: "ask", tools: ["web/fail"] }] } });
  const client = withoutSession(url, { capabilities: { elicitation: { url: {} } } });
  const elicitations = Array.from({ length: 3000 }, (_, i) => ({ mode: "url", url: `https://example.com/${i}` }));
  const { taskId } = await client.begin("web_fail", { code: -32042, message: "open these", data: { elicitations } });
  await ops.allow((await ops.held())[0]!.id);
  const { error } = await until(async () => {
    const task = await client.get(taskId);
    return task.status === "failed" ? task : undefined;
  });
  expect(error.message).toContain("The server asks 3000 questions at once; at most 32 are allowed");
});

test("no client waits for results with requests without end; asking for the state goes on", async () => {
  const { url, ops } = await startAsking({ limits: { inFlightPerSession: 3 } });
  const client = await withSession(url);
  const { taskId } = await client.begin("web_add", sum);
  const [row] = await ops.held();
  const ended: string[] = [];
  const waits = Array.from({ length: 5 }, async () => {
    const { result, error } = await client.call("tasks/result", { taskId });
    ended.push(result?.content[0].text ?? error.message);
  });
  const refusal = expect.stringContaining("too many calls of this client are under way (inFlightPerSession is 3)");
  await until(() => ended.length === 2);
  expect(ended).toEqual([refusal, refusal]);
  expect(await client.get(taskId)).toMatchObject({ status: "working" });
  await ops.allow(row!.id);
  await Promise.all(waits);
  expect(ended.slice(2)).toEqual(["3", "3", "3"]);
  expect((await client.call("tasks/result", { taskId })).result.content[0].text).toBe("3");
});

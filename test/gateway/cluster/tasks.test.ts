/** Tasks of a program that every replica runs for itself: each is where it was started. */
import { afterEach, expect, it } from "vitest";
import { askAdd, operator } from "../../fixtures/approvals.ts";
import { disposeAll, type RawHttp, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { startReplicas } from "../../fixtures/replicas.ts";
import { withoutSession } from "../../fixtures/task-clients.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

/** Every process of it counts its tasks from 1. */
const SERVER = `
  let count = 0;
  const tasks = new Map();
  const out = (m) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\\n");
  const answers = {
    initialize: () => ({ protocolVersion: "2025-11-25", serverInfo: { name: "w", version: "1" },
      capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } } }),
    "tools/list": () => ({ tools: [{ name: "work", inputSchema: { type: "object" } }] }),
    "tools/call": ({ arguments: { text } }) => {
      const task = { taskId: "t" + ++count, status: "working", statusMessage: text, createdAt: "2026-01-01T00:00:00Z" };
      tasks.set(task.taskId, task);
      return { task };
    },
    "tasks/get": ({ taskId }) => tasks.get(taskId),
    "tasks/cancel": ({ taskId }) => tasks.has(taskId) && Object.assign(tasks.get(taskId), { status: "cancelled" }),
  };
  require("node:readline").createInterface(process.stdin).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const result = answers[method]?.(params ?? {});
    out(result ? { id, result } : { id, error: { code: -32602, message: "unknown here" } });
  });`;
const worker = { command: process.execPath, args: ["-e", SERVER], share: "all" };
const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };

it("a task is reached from any replica, by its owner alone, and no other task in its place", async () => {
  const tokens = ["token-of-ada", "token-of-bob"];
  const replicas = await startReplicas(3, { mcpServers: { w: worker }, gateway: { auth: { tokens } } });
  const as = (token: string) => replicas.all.map(({ url }) => stateless(url, { token, capabilities }));
  const [ada, bob] = [as("token-of-ada"), as("token-of-bob")];
  const started = async (client: (typeof ada)[number], text: string): Promise<string> => {
    const { message } = await client.call("tools/call", { name: "w_work", arguments: { text }, task: {} });
    return message.result.taskId ?? message.result.task.taskId;
  };
  const asks = (client: (typeof ada)[number], method: string, taskId: string) =>
    client.call(method, { taskId }, { headers: { "mcp-name": taskId } });
  // Both are the first task of their process.
  const hers = await started(ada[0]!, "of Ada");
  const his = await started(bob[1]!, "of Bob");
  for (const client of ada) {
    const { message } = await asks(client, "tasks/get", hers);
    expect([message.result.taskId, message.result.statusMessage]).toEqual([hers, "of Ada"]);
    expect((await asks(client, "tasks/get", his)).message.error.code).toBe(-32602);
  }
  for (const client of bob) expect((await asks(client, "tasks/get", hers)).message.error.code).toBe(-32602);
  // Her own seal with the mark of his replica names no task.
  const tagOf = (id: string) => /~([^.]+)\./.exec(id)![1]!;
  const mixed = hers.replace(tagOf(hers), tagOf(his));
  for (const client of ada) expect((await asks(client, "tasks/get", mixed)).message.error.code).toBe(-32602);
  expect((await asks(ada[2]!, "tasks/cancel", hers)).message.error).toBeUndefined();
  expect((await asks(ada[1]!, "tasks/get", hers)).message.result.status).toBe("cancelled");
  // The first task of the other processes is somebody else's, or another one of hers.
  await started(ada[2]!, "another one of Ada");
  await replicas.all[0]!.gateway.close();
  for (const client of ada.slice(1)) {
    const { message } = await asks(client, "tasks/get", hers);
    expect(message.error.code).toBe(-32602);
  }
});

it("a task for a call that waits for a person is reached from any replica, by its owner alone", async () => {
  const web = await startScripted({ name: "web", transport: "http" });
  const auth = { clients: { ada: { token: "the-long-token-of-ada" }, bob: { token: "the-long-token-of-bob" } } };
  const replicas = await startReplicas(2, {
    mcpServers: { web: web.entry },
    policy: { rules: [askAdd] },
    gateway: { auth, admin: { tokens: ["the-long-token-of-ops"] } },
  });
  const as = (token: string) => replicas.all.map(({ url }) => withoutSession(url, { token }));
  const [ada, bob] = [as(auth.clients.ada.token), as(auth.clients.bob.token)];
  const { taskId } = await ada[0]!.begin("web_add", { a: 1, b: 2 });
  expect(await ada[1]!.get(taskId)).toMatchObject({ taskId, status: "working" });
  for (const client of bob) expect((await client.call("tasks/get", { taskId })).error.code).toBe(-32602);
  const ops = operator(replicas.all[0]!.origin, "the-long-token-of-ops");
  await ops.allow((await ops.held())[0]!.id);
  await until(async () => (await ada[1]!.get(taskId)).result?.content[0].text === "3");
  const held = await ada[1]!.begin("web_add", { a: 2, b: 2 });
  await ada[0]!.call("tasks/cancel", { taskId: held.taskId });
  expect(await ada[1]!.get(held.taskId)).toMatchObject({ status: "cancelled" });
});

it("a session at another replica than its task's learns that the task is not there, and no other one", async () => {
  const gateway = { auth: { tokens: ["token-of-ada", "token-of-bob"] } };
  const replicas = await startReplicas(2, { mcpServers: { w: worker }, gateway });
  const open = async (i: number, token: string) => {
    const raw = rawHttp(replicas.all[i]!.url);
    raw.headers["authorization"] = `Bearer ${token}`;
    await raw.initialize("2025-11-25", { tasks: { list: {}, cancel: {} } });
    return raw;
  };
  const started = async (raw: RawHttp, text: string): Promise<string> =>
    (await raw.call("tools/call", { name: "w_work", arguments: { text }, task: {} })).message.result.task.taskId;
  const [first, second] = [await open(0, "token-of-ada"), await open(1, "token-of-ada")];
  const other = await open(1, "token-of-bob");
  // Each is the first task of its process, so the server's own ids are equal.
  const hers = await started(first, "of Ada");
  await started(other, "of Bob");
  const again = await open(0, "token-of-ada");
  expect((await again.call("tasks/get", { taskId: hers })).message.result.statusMessage).toBe("of Ada");
  for (const method of ["tasks/get", "tasks/cancel", "tasks/result"]) {
    const { message } = await second.call(method, { taskId: hers });
    expect(message.error.code).toBe(-32602);
    expect(message.error.message).toContain(hers);
  }
  // Nothing happened to the tasks of this name.
  expect((await first.call("tasks/get", { taskId: hers })).message.result.status).toBe("working");
});

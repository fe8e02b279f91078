/** Tasks of calls that wait for a person, at a gateway that is killed: they have failed. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { askAdd, operator, runsOf } from "../fixtures/approvals.ts";
import { disposeAll, startScripted, until } from "../fixtures/peers.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";
import { withoutSession, withSession } from "../fixtures/task-clients.ts";

afterEach(disposeAll);

const token = { ada: "the-long-token-of-ada", bob: "the-long-token-of-bob", ops: "the-long-token-of-ops" };
const clients = { ada: { token: token.ada }, bob: { token: token.bob } };

test("a task that was held when the gateway was killed has failed and never runs; one that had run says so", async () => {
  const web = await startScripted({ name: "web", transport: "http" });
  const home = await serveHome({
    mcpServers: { web: web.entry },
    policy: { rules: [askAdd] },
    gateway: { auth: { clients }, admin: { tokens: [token.ops] } },
  });
  const first = await startServe(home);
  const ops = operator(first.origin, token.ops);
  const bare = withoutSession(first.url, { token: token.ada });
  const done = await bare.begin("web_add", { a: 1, b: 2 });
  await ops.allow((await ops.held())[0]!.id);
  await until(async () => (await bare.get(done.taskId)).status === "completed");
  const session = await withSession(first.url, { token: token.ada });
  const held = [await session.begin("web_add", { a: 5, b: 5 }), await bare.begin("web_add", { a: 6, b: 6 })];
  const rows = await ops.held(2);
  const folder = join(home.folder, "state", "goblin");
  const file = join(folder, readdirSync(folder).find((name) => name.startsWith("approvals-"))!);
  await until(() => rows.every(({ id }) => readFileSync(file, "utf8").includes(id)));
  first.child.kill("SIGKILL");
  await first.exited;

  await startServe(home);
  const later = await withSession(first.url, { token: token.ada });
  const bob = await withSession(first.url, { token: token.bob });
  for (const { taskId } of held) {
    const words =
      "needs a person's approval, and the gateway stopped while it waited. It was not run. Do not try it again";
    expect(await later.get(taskId)).toMatchObject({ status: "failed", statusMessage: expect.stringContaining(words) });
    expect((await later.call("tasks/result", { taskId })).error).toMatchObject({
      code: -32014,
      data: { why: "restart" },
    });
    expect(await bare.get(taskId)).toMatchObject({ status: "failed", error: { code: -32014 } });
    expect((await later.call("tasks/cancel", { taskId })).error.code).toBe(-32602);
    expect((await bob.call("tasks/get", { taskId })).error.message).toBe(`Task not found: ${taskId}`);
  }
  expect(await bare.get(done.taskId)).toMatchObject({
    status: "failed",
    statusMessage: expect.stringContaining("It was run (outcome: ok). Do not simply repeat it"),
  });
  for (const { id } of rows) expect((await ops.allow(id)).body.error).toMatchObject({ code: "APPROVAL_ENDED" });
  expect((await runsOf(web)).map(({ arguments: args }) => args)).toEqual([{ a: 1, b: 2 }]);
});

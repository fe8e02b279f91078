/** The result of a task is treated as the result of the tool that started it. */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { startHostile } from "../../fixtures/hostile.ts";
import { disposeAll } from "../../fixtures/peers.ts";
import { type Given, idIn, session } from "./scene.ts";

afterEach(disposeAll);

test("by the rules of its tool, whichever method gives it; others' stay as they are", async () => {
  const text = "word ".repeat(5000);
  const done = (taskId: string) => ({ taskId, status: "completed", createdAt: "2026-01-01T00:00:00Z", ttl: 1 });
  const server = await startHostile({
    initialize: { capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } },
    methods: {
      "tools/list": () => ({ tools: ["long", "plain"].map((name) => ({ name, inputSchema: { type: "object" } })) }),
      "tools/call": ({ params }: Given) => ({ task: { ...done(`t-${params.name}`), status: "working" } }),
      "tasks/get": ({ params }: Given) => ({
        ...done(params.taskId),
        result: { content: [{ type: "text", text }] },
        n: 1,
      }),
      "tasks/result": () => ({ content: [{ type: "text", text }], _meta: { a: 1 } }),
    },
  });
  const goblin = await startGoblin({
    metaTools: {},
    results: { over: "spill", maxTokens: 500, preview: 50 },
    mcpServers: {
      web: {
        ...server.entry,
        tools: { overrides: { plain: { results: { over: "pass" } } } },
      },
    },
  });
  const client = await session(goblin.url);
  const begin = async (tool: string): Promise<string> =>
    (await client.call("tools/call", { name: tool, arguments: {}, task: {} })).result.task.taskId;
  const taskId = await begin("web_long");
  const { result } = await client.call("tasks/result", { taskId });
  expect(result.content[0].text).toMatch(/^The result is too long: about 49\d\d tokens \(26 kB\)/);
  expect(result._meta).toEqual({ a: 1 });
  const read = await client.read(`goblin://result/${idIn(result)}`);
  expect(read.result.contents[0].text).toBe(text);
  const state = (await client.call("tasks/get", { taskId })).result;
  expect([state.taskId, state.n, state.status]).toEqual([taskId, 1, "completed"]);
  expect(state.result.content[0].text).toMatch(/^The result is too long/);
  const plain = await begin("web_plain");
  expect((await client.call("tasks/result", { taskId: plain })).result.content[0].text).toBe(text);
  expect((await client.call("tasks/get", { taskId: plain })).result.result.content[0].text).toBe(text);
});

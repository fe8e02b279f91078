import { expect, test } from "vitest";
import { declaringServers, extensionOwners, resolveExtension } from "../../../../src/core/routing/extension.ts";
import { Call } from "../../../../src/mcp/protocol/call.ts";
import { ANYONE } from "../../../../src/mcp/protocol/principal.ts";
import { Catalog } from "../../../../src/upstream/catalog/catalog.ts";
import { emptyLists } from "../../../../src/upstream/catalog/definitions.ts";
import type { Standing } from "../../../../src/upstream/catalog/standing.ts";

const policy = { allow: ["*"], deny: [], overrides: {} };
const definition = (value: Record<string, unknown>) => ({ value, text: JSON.stringify(value) });

function snapshot(standing: Standing = { kind: "known" }) {
  const catalog = new Catalog({
    maxNameLength: 64,
    uris: "prefixed",
    pageSize: 100,
    local: [],
    exposure: { mode: "all", budgetTokens: 1 },
  });
  catalog.put({ id: "one", prefix: "one_", tools: policy });
  catalog.put({ id: "two", prefix: "two_", tools: policy });
  catalog.update("two", {
    ...emptyLists,
    tools: [definition({ name: "dig", inputSchema: {} })],
    resources: [definition({ uri: "skill://x", name: "x" })],
  });
  catalog.put({ id: "away", prefix: "away_", tools: policy });
  catalog.stand("away", standing);
  return catalog.snapshot;
}

function call(method: string, params: Record<string, unknown>): Call {
  const client = {
    key: "c",
    hasSession: true,
    scope: "c",
    party: "c",
    account: "c",
    principal: "",
    who: ANYONE,
    endpoint: "",
    visibility: undefined,
    taskOwner: "c",
    protocolVersion: "",
    capabilities: {},
    info: {},
    meter: "",
    logLevel: undefined,
    ask: () => Promise.reject(new Error("not asked")),
  };
  return new Call({ method, params, text: JSON.stringify(params), client, emit: () => {} });
}

const options = (owners: string[]) => ({
  owners,
  snapshot: snapshot(),
  tasks: { toolOf: () => undefined, opens: (_serverId: string, { seal }: { seal: string }) => seal === "mine" },
});

const info = { protocolVersion: "", serverInfo: {}, instructions: undefined };
const servers = [
  { id: "one", info: { ...info, capabilities: { extensions: { "io.modelcontextprotocol/skills": {} } } } },
  {
    id: "two",
    info: { ...info, capabilities: { extensions: { "io.modelcontextprotocol/skills": {}, "com.example/tasks": {} } } },
  },
  { id: "three", info: { ...info, capabilities: { tasks: {} } } },
  { id: "four", info: { ...info, capabilities: {} } },
];

test("a method belongs to the servers that declared its extension", () => {
  expect(extensionOwners("skills/list", servers)).toEqual(["one", "two"]);
  expect(extensionOwners("tasks/get", servers)).toEqual(["two", "three"]);
  expect(extensionOwners("nothing/here", servers)).toEqual([]);
  expect(extensionOwners("notifications/skills", servers)).toEqual([]);
  expect(extensionOwners("plain", servers)).toEqual([]);
  expect(extensionOwners("skillsQ", servers)).toEqual([]);
  // A letter more than the name of an extension.
  expect(extensionOwners("tasksQ", servers)).toEqual([]);
  expect(extensionOwners("skills", servers)).toEqual([]);
  expect(extensionOwners("", servers)).toEqual([]);
  expect(extensionOwners("/", servers)).toEqual([]);
});

test("the owner is found by task id, URI or name, and gets its own identifier", () => {
  const routes = [
    call("tasks/get", { taskId: "two+mine.t1", keep: 1 }),
    call("skills/read", { uri: "two+skill://x" }),
    call("skills/run", { name: "two_dig" }),
  ].map((asked) => resolveExtension(asked, options(["one", "two"])));
  expect(routes.map(({ serverId, params }) => [serverId, params])).toEqual([
    ["two", '{"taskId":"t1","keep":1}'],
    ["two", '{"uri":"skill://x"}'],
    ["two", '{"name":"dig"}'],
  ]);
});

test("without a name it goes to the only owner, and to nobody if there are several", () => {
  expect(resolveExtension(call("skills/list", {}), options(["one"])).serverId).toBe("one");
  expect(() => resolveExtension(call("skills/list", {}), options(["one", "two"]))).toThrow("one, two");
  expect(() => resolveExtension(call("tasks/get", { taskId: "nine+mine.t" }), options(["one"]))).toThrow(
    "Task not found",
  );
  expect(() => resolveExtension(call("skills/run", { name: "two_dig" }), options(["one"]))).toThrow("does not offer");
});

test("a task of somebody else, or of nobody, is not found; no method of tasks is without one", () => {
  const ask = (params: Record<string, unknown>) => () => resolveExtension(call("tasks/get", params), options(["two"]));
  expect(ask({ taskId: "two+mine.t1" })().params).toBe('{"taskId":"t1"}');
  for (const taskId of ["two+yours.t1", "two+t1", "t1", "nine+mine.t1"]) {
    expect(ask({ taskId })).toThrow(`Task not found: ${taskId}`);
  }
  expect(ask({})).toThrow('tasks/get needs "taskId", a string');
  expect(() => resolveExtension(call("tasks/all", {}), options(["two"]))).toThrow('needs "taskId"');
});

const named = [{ taskId: "away+mine.t1" }, { uri: "away+skill://x" }, { uri: "away_skill___x" }, { name: "away_dig" }];

test.each(named)("what belongs to a configured server goes to no other: %j", (params) => {
  const asked = (standing: Standing, owners: string[]) => () =>
    resolveExtension(call("skills/run", params), { ...options(owners), snapshot: snapshot(standing) });
  const unavailable = { code: "BACKEND_UNAVAILABLE", data: expect.objectContaining({ serverId: "away" }) };
  expect(asked({ kind: "down", reason: "gone" }, ["one"])).toThrow(expect.objectContaining(unavailable));
  expect(asked({ kind: "starting" }, ["one"])).toThrow(expect.objectContaining({ awaits: ["away"] }));
  expect(asked({ kind: "disabled" }, ["one"])).toThrow(/not found/);
  expect(asked({ kind: "known" }, ["one"])).toThrow(/not found|does not offer/);
  expect(asked({ kind: "known" }, ["away"])().serverId).toBe("away");
});

test("a method that nobody declares is meant for the only server, but nobody offers it", () => {
  const [one] = servers;
  expect(extensionOwners("acme/search", servers)).toEqual([]);
  expect(extensionOwners("acme/search", [one!])).toEqual(["one"]);
  expect(declaringServers("acme/search", [one!])).toEqual([]);
  for (const method of ["prompts/search", "notifications/x", "plain"])
    expect(extensionOwners(method, [one!])).toEqual([]);
});

import { expect, test } from "vitest";
import { Catalog } from "../../../src/catalog/catalog.ts";
import { emptyLists } from "../../../src/catalog/definitions.ts";
import { Call } from "../../../src/protocol/call.ts";
import { extensionOwners, resolveExtension } from "../../../src/routing/extension.ts";

const policy = { allow: ["*"], deny: [], overrides: {} };
const definition = (value: Record<string, unknown>) => ({ value, text: JSON.stringify(value) });

function snapshot() {
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
  return catalog.snapshot;
}

function call(method: string, params: Record<string, unknown>): Call {
  const client = {
    key: "c",
    scope: "c",
    account: "c",
    principal: "",
    protocolVersion: "",
    capabilities: {},
    info: {},
    logLevel: undefined,
    ask: () => Promise.reject(new Error("not asked")),
  };
  return new Call({ method, params, text: JSON.stringify(params), client, emit: () => {} });
}

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
});

test("the owner is found by task id, URI or name, and gets its own identifier", () => {
  const routes = [
    call("tasks/get", { taskId: "two+t1", keep: 1 }),
    call("skills/read", { uri: "two+skill://x" }),
    call("skills/run", { name: "two_dig" }),
  ].map((asked) => resolveExtension(asked, ["one", "two"], snapshot()));
  expect(routes.map(({ serverId, params }) => [serverId, params])).toEqual([
    ["two", '{"taskId":"t1","keep":1}'],
    ["two", '{"uri":"skill://x"}'],
    ["two", '{"name":"dig"}'],
  ]);
});

test("without a name it goes to the only owner, and to nobody if there are several", () => {
  expect(resolveExtension(call("skills/list", {}), ["one"], snapshot()).serverId).toBe("one");
  expect(() => resolveExtension(call("skills/list", {}), ["one", "two"], snapshot())).toThrow("one, two");
  expect(() => resolveExtension(call("tasks/get", { taskId: "nine+t" }), ["one"], snapshot())).toThrow(
    "Task not found",
  );
  expect(() => resolveExtension(call("skills/run", { name: "two_dig" }), ["one"], snapshot())).toThrow(
    "does not offer",
  );
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, type Scripted, startScripted } from "../../fixtures/peers.ts";
import { type MetaClient, metaClient } from "./rig.ts";

let client: MetaClient;
let server: Scripted;

beforeAll(async () => {
  server = await startScripted({ name: "lab", tools: 4 });
  const other = await startScripted({ name: "twin" });
  const { url } = await startGoblin({ mcpServers: { lab: server.entry, twin: other.entry } });
  client = await metaClient(url);
});
afterAll(disposeAll);

const refusal = async (name: string, args?: unknown) => {
  const { error } = await client.call(name, args);
  const { requestId: _, ...data } = error.data;
  return { code: error.code, message: error.message, data };
};

test("an unknown tool is the error of a direct call, and the three nearest names", async () => {
  const expected = {
    code: -32602,
    message: "Tool not found: lab_slep. Did you mean lab_sleep?",
    data: { code: "TOOL_NOT_FOUND", didYouMean: ["lab_sleep"] },
  };
  expect(await refusal("describe_tool", { name: "lab_slep" })).toEqual(expected);
  expect(await refusal("call_tool", { name: "lab_slep" })).toEqual(expected);
  expect((await refusal("describe_tool", { name: "lab_tol_2" })).data).toEqual({
    code: "TOOL_NOT_FOUND",
    didYouMean: ["lab_tool_2", "lab_tool_1", "lab_tool_3"],
  });
  expect(await server.received("tools/call")).toEqual([]);
});

test("a name that resembles nothing gets no suggestion", async () => {
  expect(await refusal("describe_tool", { name: "xyzzyxyzzyxyzzy" })).toEqual({
    code: -32602,
    message: "Tool not found: xyzzyxyzzyxyzzy",
    data: { code: "TOOL_NOT_FOUND" },
  });
});

test("a name that two servers have is ambiguous, with both", async () => {
  expect(await refusal("describe_tool", { name: "echo" })).toEqual({
    code: -32602,
    message: "Tool not found: echo is ambiguous (lab_echo, twin_echo)",
    data: { code: "TOOL_NOT_FOUND", candidates: ["lab_echo", "twin_echo"] },
  });
});

test("a meta tool that was meant is suggested too", async () => {
  expect((await refusal("call_tool", { name: "serch_tools" })).data["didYouMean"]).toContain("search_tools");
});

test("unknown prompts and resources: the codes of direct requests, and the nearest", async () => {
  expect(await refusal("describe_prompt", { name: "lab_gret" })).toEqual({
    code: -32602,
    message: "Prompt not found: lab_gret. Did you mean lab_greet?",
    data: { code: "PROMPT-001", didYouMean: ["lab_greet"] },
  });
  const { code, data } = await refusal("describe_resource", { uri: "lab+text:///helo" });
  expect(code).toBe(-32002);
  expect(data).toEqual({
    code: "RESOURCE_NOT_FOUND",
    uri: "lab+text:///helo",
    didYouMean: ["lab+text:///hello"],
  });
});

test("wrong arguments: what is missing, in the schema's words", async () => {
  expect(await refusal("describe_tool")).toEqual({
    code: -32602,
    message: 'describe_tool needs "name" (string): As search_tools gives it.',
    data: { code: "INVALID_PARAMS", missing: ["name"] },
  });
  expect(await refusal("search_tools", { limit: 1000 })).toEqual({
    code: -32602,
    message:
      'search_tools needs "query" (string): What you are looking for, in your own words or as a name.; it got a wrong "limit": Too big: expected number to be <=100',
    data: { code: "INVALID_PARAMS", missing: ["query"] },
  });
  expect((await refusal("catalog_tools", { server: "lab" })).message).toBe(
    'catalog_tools does not take "server" (it takes "serverId")',
  );
  expect((await refusal("call_tool", { name: "lab_echo", text: "x" })).message).toBe(
    'call_tool does not take "text" (it takes "name", "arguments")',
  );
  expect((await refusal("goblin_health", [1])).message).toBe('goblin_health needs "arguments", an object');
});

test("call_tool does not call itself", async () => {
  const args = { name: "call_tool", arguments: { name: "lab_echo", arguments: {} } };
  expect(await refusal("call_tool", args)).toEqual({
    code: -32602,
    message: "call_tool does not call itself: give the tool's own name",
    data: { code: "INVALID_PARAMS" },
  });
});

test("a query of megabytes is refused, with how long it may be", async () => {
  for (const name of ["search_tools", "search_prompts", "search_resources"]) {
    expect(await refusal(name, { query: "x ".repeat(500) }).catch(() => "found")).toBe("found");
    expect(await refusal(name, { query: "x ".repeat(2_000_000) })).toEqual({
      code: -32602,
      message: `${name} got a wrong "query": it may have at most 1000 characters; say in a few words what you are looking for`,
      data: { code: "INVALID_PARAMS" },
    });
  }
});

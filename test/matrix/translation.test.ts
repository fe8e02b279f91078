/**
 * What the two eras say differently, in both directions: links to open, how long an answer may be
 * kept, structured content, codes, who the client is and what it can do. (Questions: input.test.ts;
 * headers, logs, tracing: requests.test.ts; changes: listening.test.ts.)
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import {
  connectV1,
  disposeAll,
  type RawHttp,
  rawHttp,
  type Scripted,
  startScripted,
  until,
} from "../fixtures/peers.ts";
import { type Stateless, stateless } from "./stateless.ts";
import type { Message } from "./wires.ts";

let old: Scripted;
let recent: Scripted;
let goblin: RunningGoblin;
let client: Stateless;
let session: RawHttp;

beforeAll(async () => {
  old = await startScripted({ transport: "http", name: "old" });
  recent = await startScripted({
    transport: "http",
    era: "modern",
    name: "new",
    script: { ttlMs: 5000, cacheScope: "public", lists: { resources: [{ uri: "text:///hello", name: "h" }] } },
  });
  goblin = await startGoblin({ mcpServers: { old: old.entry, new: recent.entry } });
  client = stateless(goblin.url, { capabilities: { elicitation: { form: {}, url: {} } } });
  session = rawHttp(goblin.url);
  await session.initialize("2025-11-25", { elicitation: { form: {}, url: {} } });
});
afterAll(disposeAll);

const elicitations = [
  { mode: "url", elicitationId: "e1", url: "https://example.com/a", message: "Sign in" },
  { mode: "url", elicitationId: "e2", url: "https://example.com/b", message: "Accept" },
];
const links = { name: "old_fail", arguments: { code: -32042, message: "Open these", data: { elicitations } } };

describe("links that must be opened first", () => {
  test("an error of an old server is a question to a new client, and the repeated request a new call", async () => {
    const { status, message } = await client.call("tools/call", links);
    expect([status, message.result.resultType]).toEqual([200, "input_required"]);
    const requests = Object.values<Message>(message.result.inputRequests);
    expect(requests).toEqual([
      { method: "elicitation/create", params: { mode: "url", url: "https://example.com/a", message: "Sign in" } },
      { method: "elicitation/create", params: { mode: "url", url: "https://example.com/b", message: "Accept" } },
    ]);
    // The user has done it: the server is content now, and asks something else.
    old.setScript({ rules: [{ method: "tools/call", name: "fail", do: "result", result: { content: [] } }] });
    const keys = Object.keys(message.result.inputRequests);
    const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: "accept" }]));
    const { requestState } = message.result;
    const again = await client.call("tools/call", { ...links, inputResponses, requestState });
    expect(again.message.result).toMatchObject({ resultType: "complete", content: [] });
    const calls = (await old.received("tools/call")).map((r) => r.message.params);
    expect(calls).toHaveLength(2);
    expect(calls[1]).not.toHaveProperty("requestState");
    expect(calls[1]).not.toHaveProperty("inputResponses");
    old.setScript({});
  });

  test("the repeated request may ask other questions", async () => {
    const call = { name: "old_ask", arguments: { kind: "elicitation" } };
    const rule = {
      method: "tools/call",
      name: "ask",
      times: 1,
      do: "error",
      code: -32042,
      message: "Open",
      data: { elicitations },
    };
    old.setScript({ rules: [rule] });
    const first = await client.call("tools/call", call);
    const second = await client.call("tools/call", {
      ...call,
      inputResponses: Object.fromEntries(
        Object.keys(first.message.result.inputRequests).map((key) => [key, { action: "accept" }]),
      ),
      requestState: first.message.result.requestState,
    });
    expect(Object.values(second.message.result.inputRequests)).toMatchObject([
      { params: { message: "What is your name?" } },
    ]);
    const third = await client.call("tools/call", {
      ...call,
      inputResponses: { [Object.keys(second.message.result.inputRequests)[0]!]: { action: "decline" } },
      requestState: second.message.result.requestState,
    });
    expect(third.message.result.content[0].text).toBe('{"action":"decline"}');
    old.setScript({});
  });

  test("a new client that opens no links learns what it needs; the old code never reaches it", async () => {
    const { status, message } = await client.call("tools/call", links, { capabilities: { elicitation: { form: {} } } });
    expect([status, message.error.code]).toEqual([400, -32021]);
    expect(message.error.data.requiredCapabilities).toEqual({ elicitation: { url: {} } });
  });

  test("an old client gets the error as it is", async () => {
    const { message } = await session.call("tools/call", links);
    expect(message.error).toEqual({ code: -32042, message: "Open these", data: { elicitations, serverId: "old" } });
  });

  test("a new server's link is a request with an id of its own to an old client", async () => {
    const { client: sdk } = await connectV1({
      url: goblin.url,
      elicitation: (params) => {
        seen.push(params);
        return { action: "accept" };
      },
    });
    const seen: Message[] = [];
    const params = { mode: "url", url: "https://example.com/c", message: "Look" };
    const result = await sdk.callTool({ name: "new_ask", arguments: { kind: "elicitation", params } });
    expect(result["content"]).toEqual([{ type: "text", text: '{"action":"accept"}' }]);
    expect(seen).toEqual([{ ...params, elicitationId: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
  });
});

describe("how long an answer may be kept", () => {
  const marks = (result: Message) => [result.resultType, result.ttlMs, result.cacheScope];

  test("a new server's word on a read reaches a new client; for an old server it is made", async () => {
    expect(marks((await client.call("resources/read", { uri: "new+text:///hello" })).message.result)).toEqual([
      "complete",
      5000,
      "public",
    ]);
    expect(marks((await client.call("resources/read", { uri: "old+text:///hello" })).message.result)).toEqual([
      "complete",
      0,
      "private",
    ]);
  });

  test.each(["tools/list", "prompts/list", "resources/list", "resources/templates/list"])(
    "%s: not at all, and by nobody else, if one of the servers does not say",
    async (method) => {
      expect(marks((await client.call(method)).message.result)).toEqual(["complete", 0, "private"]);
    },
  );

  test("a list of servers that all say so: the shortest time, private if one is", async () => {
    const start = (name: string, ttlMs: number, cacheScope: string) =>
      startScripted({ transport: "http", era: "modern", name, script: { ttlMs, cacheScope } });
    const [a, b, c] = [
      await start("a", 9000, "public"),
      await start("b", 4000, "public"),
      await start("c", 7000, "private"),
    ];
    const shared = await startGoblin({ mcpServers: { a: a.entry, b: b.entry } });
    expect(marks((await stateless(shared.url).call("prompts/list")).message.result)).toEqual([
      "complete",
      4000,
      "public",
    ]);
    const mixed = await startGoblin({ mcpServers: { a: a.entry, c: c.entry } });
    expect(marks((await stateless(mixed.url).call("prompts/list")).message.result)).toEqual([
      "complete",
      7000,
      "private",
    ]);
  });

  test.each([
    ["profiles", { profiles: { small: { servers: ["a"] } } }],
    ["rules", { policy: { rules: [{ effect: "deny", tools: ["a/nothing"] }] } }],
    ["clients that get other lists", { clients: { "some-client": { expose: "search" } } }],
  ])("with %s, clients may see different things, so no list is for all", async (_, more) => {
    const script = { ttlMs: 9000, cacheScope: "public" };
    const a = await startScripted({ transport: "http", era: "modern", name: "a", script });
    const { url } = await startGoblin({ ...more, mcpServers: { a: a.entry } });
    const result = (await stateless(url).call("prompts/list")).message.result;
    expect(result.prompts).not.toEqual([]);
    expect(result.cacheScope).toBe("private");
  });

  test("where credentials decide, no read is for all, although its server says so (A-L10)", async () => {
    const script = { ttlMs: 9000, cacheScope: "public", lists: { resources: [{ uri: "text:///hello", name: "h" }] } };
    const a = await startScripted({ transport: "http", era: "modern", name: "a", script });
    const token = "the-long-token-of-ada";
    const { url } = await startGoblin({
      mcpServers: { a: a.entry },
      gateway: { auth: { clients: { ada: { token } } } },
    });
    const { result } = (await stateless(url, { token }).call("resources/read", { uri: "a+text:///hello" })).message;
    expect(marks(result)).toEqual(["complete", 9000, "private"]);
    const open = await startGoblin({ mcpServers: { a: a.entry } });
    const shared = (await stateless(open.url).call("resources/read", { uri: "a+text:///hello" })).message.result;
    expect(marks(shared)).toEqual(["complete", 9000, "public"]);
  });

  test("old clients see none of it, nor who answered", async () => {
    const answers = [
      await session.call("resources/read", { uri: "new+text:///hello" }),
      await session.call("tools/call", { name: "new_echo", arguments: { ttlMs: 1 } }),
      await session.call("tools/list"),
      await session.call("resources/list"),
    ];
    for (const { message } of answers) {
      expect(marks(message.result)).toEqual([undefined, undefined, undefined]);
      expect(message.result).not.toHaveProperty(["_meta", "io.modelcontextprotocol/serverInfo"]);
    }
    expect(answers[1]!.message.result.structuredContent).toEqual({ ttlMs: 1 });
  });

  test("a new client is told that the gateway answered, and keeps the server's other marks", async () => {
    const raw = { content: [], _meta: { "fixture/own": 1, "io.modelcontextprotocol/serverInfo": { name: "hidden" } } };
    const { message } = await client.call("tools/call", { name: "old_raw", arguments: { result: raw } });
    expect(message.result._meta).toMatchObject({
      "fixture/own": 1,
      "io.modelcontextprotocol/serverInfo": { name: "goblin" },
    });
  });
});

describe("structured content that is no object", () => {
  test.each([[[1, 2]], ["text"], [7], [null], [false]])(
    "%j is wrapped for old clients only",
    async (structuredContent) => {
      const result = { resultType: "complete", content: [], structuredContent };
      const call = { name: "new_raw", arguments: { result } };
      expect((await session.call("tools/call", call)).message.result).toEqual({
        content: [],
        structuredContent: { result: structuredContent },
      });
      expect((await client.call("tools/call", call)).message.result.structuredContent).toEqual(structuredContent);
    },
  );

  test("what is an object stays", async () => {
    const result = { resultType: "complete", content: [], structuredContent: { result: [1], structuredContent: 2 } };
    const { message } = await session.call("tools/call", { name: "new_raw", arguments: { result } });
    expect(message.result.structuredContent).toEqual({ result: [1], structuredContent: 2 });
  });

  test("its schema is wrapped with it, so that old clients accept the list and the result", async () => {
    const schema = { type: "array", items: { type: "integer" } };
    const either = { anyOf: [{ type: "object", properties: { arguments: { $ref: "#" } } }, { type: "null" }] };
    const tools = [
      { name: "either", inputSchema: { type: "object" }, outputSchema: either },
      { name: "raw", inputSchema: { type: "object" }, outputSchema: schema },
    ];
    const server = await startScripted({ transport: "http", era: "modern", name: "s", script: { lists: { tools } } });
    const through = await startGoblin({ mcpServers: { s: server.entry } });
    const { client: sdk } = await connectV1({ url: through.url });
    const listed = (await sdk.listTools()).tools.find((tool) => tool.name === "s_raw");
    expect(listed?.outputSchema).toMatchObject({
      type: "object",
      properties: { result: schema },
      required: ["result"],
    });
    const result = { resultType: "complete", content: [], structuredContent: [1, 2] };
    expect((await sdk.callTool({ name: "s_raw", arguments: { result } }))["structuredContent"]).toEqual({
      result: [1, 2],
    });
    // Even what is an object is wrapped, if the schema was; the SDK checks it against the moved
    // reference.
    expect((await sdk.callTool({ name: "s_either", arguments: { arguments: null } }))["structuredContent"]).toEqual({
      result: { server: "s", tool: "either", arguments: { arguments: null } },
    });
    const plain = (await stateless(through.url).call("tools/list")).message.result.tools;
    expect(plain.find((tool: Message) => tool.name === "s_raw").outputSchema).toEqual(schema);
  });
});

describe("codes", () => {
  const read = (server: string) => ({ uri: `${server}+text:///hello` });
  const rule = (code: number) => ({
    rules: [{ method: "resources/read", do: "error", code, message: "gone", data: { uri: "u" } }],
  });

  test("an old server's -32002 is -32602 for new clients, and itself for old ones", async () => {
    old.setScript(rule(-32002));
    const data = { uri: "u", serverId: "old" };
    expect((await client.call("resources/read", read("old"))).message.error).toEqual({
      code: -32602,
      message: "gone",
      data,
    });
    expect((await session.call("resources/read", read("old"))).message.error).toEqual({
      code: -32002,
      message: "gone",
      data,
    });
    old.setScript({});
  });

  test("a resource that no server has: each era's own code", async () => {
    const nothing = { uri: "nothing:///here" };
    expect((await client.call("resources/read", nothing)).message.error.code).toBe(-32602);
    expect((await session.call("resources/read", nothing)).message.error.code).toBe(-32002);
  });
});

describe("who the client is", () => {
  const whoami = async (caller: () => Promise<{ message: Message }>) =>
    (await caller()).message.result.structuredContent.client;

  test("a session's name and capabilities go with each request to a new server", async () => {
    const me = await whoami(() => session.call("tools/call", { name: "new_whoami", arguments: {} }));
    expect(me).toEqual({
      info: { name: "raw", version: "1" },
      capabilities: { elicitation: { form: {}, url: {} } },
      version: "2026-07-28",
      // The session set none: it gets what it would get elsewhere.
      logLevel: "debug",
    });
  });

  test("a new client's own words pass, request by request", async () => {
    for (const capabilities of [{}, { sampling: {} }, { roots: {}, "x-unknown": { kept: 1 } }]) {
      const me = await whoami(() => client.call("tools/call", { name: "new_whoami", arguments: {} }, { capabilities }));
      expect(me).toEqual({ info: { name: "stateless", version: "1" }, capabilities, version: "2026-07-28" });
    }
  });

  test('with share "session", an old server is given each client\'s own capabilities', async () => {
    const server = await startScripted({ transport: "stdio", name: "own" });
    const through = await startGoblin({ mcpServers: { own: { ...server.entry, share: "session" } } });
    const one = stateless(through.url);
    for (const capabilities of [{ sampling: {} }, { roots: {} }, { sampling: {} }]) {
      const me = await whoami(() => one.call("tools/call", { name: "own_whoami", arguments: {} }, { capabilities }));
      expect(me.capabilities).toEqual(capabilities);
    }
  });

  test("whatever capabilities are claimed, connections do not pile up", async () => {
    const server = await startScripted({ transport: "stdio", name: "own" });
    const through = await startGoblin({ mcpServers: { own: { ...server.entry, share: "session" } } });
    const one = stateless(through.url);
    for (let n = 1; n <= 12; n++) {
      await one.call("tools/call", { name: "own_echo", arguments: {} }, { capabilities: { [`x-${n}`]: {} } });
    }
    // What stays is the gateway's own.
    await until(async () => (await server.events("start")).length - (await server.events("close")).length === 1);
  });

  test("keys of the new era never reach an old server, and a new one hears no methods of the old", async () => {
    await client.call("tools/call", { name: "old_echo", arguments: {} }, { meta: { "x/kept": 1 } });
    const last = (await old.received("tools/call")).at(-1)?.message.params;
    expect(last._meta).toEqual({ "x/kept": 1 });
    await session.call("logging/setLevel", { level: "error" });
    await session.call("resources/subscribe", { uri: "new+text:///hello" });
    await until(async () => (await recent.events("listen")).length > 1);
    const methods = new Set((await recent.received()).map((r) => r.message.method));
    // One handshake was tried, for clients that have one. The server does not.
    expect(await recent.received("initialize")).toHaveLength(1);
    for (const gone of ["ping", "logging/setLevel", "resources/subscribe"]) expect(methods).not.toContain(gone);
    expect(await recent.events("violation")).toEqual([]);
  });
});

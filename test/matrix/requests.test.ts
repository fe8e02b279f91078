/**
 * 2026-07-28 over HTTP, request by request: what a request must say for itself, what its headers
 * must repeat, and with which code and status it is refused otherwise.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, type Scripted, startScripted } from "../fixtures/peers.ts";
import { CAPABILITIES_KEY, LEVEL_KEY, type Said, type Stateless, stateless, VERSION_KEY } from "./stateless.ts";

let goblin: RunningGoblin;
let legacy: Scripted;
let modern: Scripted;
let client: Stateless;

const prompts = [
  { name: "größe", description: "Not ASCII" },
  { name: " padded", description: "Begins with a space" },
];

beforeAll(async () => {
  legacy = await startScripted({ transport: "http", name: "old" });
  modern = await startScripted({ transport: "http", era: "modern", name: "new", script: { lists: { prompts } } });
  goblin = await startGoblin({ mcpServers: { old: legacy.entry, new: modern.entry } });
  client = stateless(goblin.url);
});
afterAll(disposeAll);

const ECHO = { name: "old_echo", arguments: { text: "hi" } };

describe("a request is refused with 400", () => {
  const refusals: [what: string, said: Said, code: number, message: RegExp][] = [
    ["no version in _meta", { meta: { [VERSION_KEY]: undefined } }, -32602, /protocolVersion/],
    ["a version that is no string", { meta: { [VERSION_KEY]: 7 } }, -32602, /protocolVersion/],
    ["no capabilities in _meta", { meta: { [CAPABILITIES_KEY]: undefined } }, -32602, /clientCapabilities/],
    ["capabilities that are a list", { meta: { [CAPABILITIES_KEY]: [] } }, -32602, /clientCapabilities/],
    [
      "no MCP-Protocol-Version",
      { headers: { "mcp-protocol-version": null } },
      -32020,
      /MCP-Protocol-Version is missing/,
    ],
    [
      "another MCP-Protocol-Version",
      { headers: { "mcp-protocol-version": "2025-11-25" } },
      -32020,
      /MCP-Protocol-Version/,
    ],
    ["no Mcp-Method", { headers: { "mcp-method": null } }, -32020, /Mcp-Method is missing/],
    ["another Mcp-Method", { headers: { "mcp-method": "tools/list" } }, -32020, /Mcp-Method does not match/],
    ["no Mcp-Name", { headers: { "mcp-name": null } }, -32020, /Mcp-Name is missing/],
    ["another Mcp-Name", { headers: { "mcp-name": "old_add" } }, -32020, /Mcp-Name does not match/],
    ["an Mcp-Name that is no base64", { headers: { "mcp-name": "=?base64?%%%?=" } }, -32020, /Mcp-Name/],
  ];
  test.each(refusals)("%s", async (_what, said, code, message) => {
    const before = (await legacy.received("tools/call")).length;
    const answer = await client.call("tools/call", ECHO, { ...said, id: "r1" });
    expect([answer.status, answer.message.error.code]).toEqual([400, code]);
    expect(answer.message.error.message).toMatch(message);
    expect(await legacy.received("tools/call")).toHaveLength(before);
  });

  test("a version that the gateway does not speak, with those that it does", async () => {
    const said = { meta: { [VERSION_KEY]: "2099-01-01" }, headers: { "mcp-protocol-version": "2099-01-01" } };
    const { status, message } = await client.call("tools/call", ECHO, said);
    expect([status, message.error.code]).toEqual([400, -32022]);
    expect(message.error.data).toMatchObject({ supported: ["2026-07-28"], requested: "2099-01-01" });
  });
});

test.each(["no/such", "ping", "logging/setLevel", "resources/subscribe", "constructor", "initialize"])(
  "%s is no method of this version: 404",
  async (method) => {
    const { status, message } = await client.call(method, { uri: "old+text:///hello" });
    expect([status, message.error.code, message.error.message]).toEqual([404, -32601, `Method not found: ${method}`]);
  },
);

test.each(["GET", "DELETE", "PUT"])("%s is not allowed", async (verb) => {
  const answer = await rawHttp(goblin.url).send({ verb, headers: { "mcp-protocol-version": "2026-07-28" } });
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, verb === "PUT" ? "GET, POST, DELETE" : "POST"]);
});

test("a notification is accepted, an answer is not", async () => {
  const headers = { "mcp-protocol-version": "2026-07-28" };
  const _meta = { [VERSION_KEY]: "2026-07-28", [CAPABILITIES_KEY]: {} };
  const raw = rawHttp(goblin.url);
  const note = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1, _meta } };
  expect((await raw.post(note, headers)).status).toBe(202);
});

test("server/discover says what there is, and who answers", async () => {
  const { status, message } = await client.call("server/discover");
  expect(status).toBe(200);
  expect(message.result).toMatchObject({
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    cacheScope: expect.stringMatching(/^(public|private)$/),
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } },
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "goblin" } },
  });
  expect(message.result.ttlMs).toBeGreaterThanOrEqual(0);
});

test("an answer alone is JSON; with more to say it is a stream that proxies do not buffer", async () => {
  const plain = await client.call("tools/call", ECHO);
  expect(plain.headers.get("content-type")).toMatch(/^application\/json/);
  const args = { name: "old_progress", arguments: { steps: 1 } };
  const streamed = await client.call("tools/call", args, { meta: { progressToken: 1 } });
  expect(streamed.headers.get("content-type")).toMatch(/^text\/event-stream/);
  expect(streamed.headers.get("x-accel-buffering")).toBe("no");
});

describe("Mcp-Param", () => {
  const route = (server: string, region: unknown, header: string | null) =>
    client.call(
      "tools/call",
      { name: `${server}_route`, arguments: region === undefined ? {} : { region } },
      { headers: { "mcp-param-region": header } },
    );
  const sent = async () => (await modern.events("http")).at(-1)?.["headers"]["mcp-param-region"];

  test.each(["old", "new"])("is checked for a tool of %s", async (server) => {
    for (const wrong of [null, "us", "=?base64?%%%?="]) {
      const { status, message } = await route(server, "eu", wrong);
      expect([status, message.error.code, message.error.message]).toEqual([
        400,
        -32020,
        expect.stringContaining("Mcp-Param-region"),
      ]);
    }
    expect((await route(server, "eu", "eu")).message.result.content[0].text).toBe("routed to eu");
    expect((await route(server, "eu", "=?base64?ZXU=?=")).message.result.content[0].text).toBe("routed to eu");
    expect((await route(server, undefined, null)).message.result.content[0].text).toBe("routed to undefined");
  });

  test("is made for a server of this version, for any client, and for no other server", async () => {
    await route("new", "eu", "eu");
    expect(await sent()).toBe("eu");
    const old = rawHttp(goblin.url);
    await old.initialize("2025-06-18");
    for (const [region, header] of [
      ["us", "us"],
      ["Zürich", "=?base64?WsO8cmljaA==?="],
      [" padded ", "=?base64?IHBhZGRlZCA=?="],
      ["=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="],
    ]) {
      const { message } = await old.call("tools/call", { name: "new_route", arguments: { region } });
      expect(message.result.content[0].text).toBe(`routed to ${region}`);
      expect(await sent()).toBe(header);
    }
    await old.call("tools/call", { name: "new_route", arguments: {} });
    expect(await sent()).toBeUndefined();
    await route("old", "eu", "eu");
    expect((await legacy.events("http")).filter((r) => r["headers"]["mcp-param-region"])).toEqual([]);
  });
});

test("Mcp-Name is base64 where a header cannot carry it, in both directions", async () => {
  const headers = { "mcp-name": "=?base64?bmV3X2dyw7bDn2U=?=" };
  const answer = await client.call("prompts/get", { name: "new_größe" }, { headers });
  expect(answer.message.result.description).toBe("Prompt größe");
  const names = async () => (await modern.events("http")).at(-1)?.["headers"]["mcp-name"];
  expect(await names()).toBe("=?base64?Z3LDtsOfZQ==?=");
  const old = rawHttp(goblin.url);
  await old.initialize();
  await old.call("prompts/get", { name: "new_ padded" });
  expect(await names()).toBe("=?base64?IHBhZGRlZA==?=");
});

describe.each(["old", "new"])("log messages of %s", (server) => {
  const logged = async (level: string, asked?: string) => {
    const call = { name: `${server}_log`, arguments: { level, text: "said" } };
    const answer = await client.call("tools/call", call, asked ? { meta: { [LEVEL_KEY]: asked } } : {});
    return answer.messages.filter((m) => m.method === "notifications/message").length;
  };
  test("come only to a request that asked, from its level on", async () => {
    expect(await logged("error")).toBe(0);
    expect(await logged("error", "warning")).toBe(1);
    expect(await logged("info", "warning")).toBe(0);
    expect(await logged("error")).toBe(0);
  });

  test("come from the level that the request asked for, whatever a session set before", async () => {
    const session = rawHttp(goblin.url);
    await session.initialize();
    await session.call("logging/setLevel", { level: "error" });
    expect(await logged("debug", "debug")).toBe(1);
    await session.delete();
  });
});

test.each(["old", "new"])("trace context reaches %s, in _meta and as headers", async (server) => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const trace = { traceparent, tracestate: "a=1", baggage: "user=ada" };
  const backend = server === "old" ? legacy : modern;
  const last = async () => (await backend.received("tools/call")).at(-1)?.message.params._meta;
  const session = rawHttp(goblin.url);
  await session.initialize();
  const params = { name: `${server}_echo`, arguments: {} };
  const viaSession = (headers: Record<string, string>) =>
    session.post({ jsonrpc: "2.0", id: 9, method: "tools/call", params: { ...params, _meta: trace } }, headers);
  const viaRequest = (headers: Record<string, string>) => client.call("tools/call", params, { meta: trace, headers });
  // The reply is a stream from the beginning.
  const viaStream = (headers: Record<string, string>) => viaSession({ ...headers, accept: "text/event-stream" });
  for (const send of [viaSession, viaStream, viaRequest]) {
    await send(trace);
    expect((await backend.events("http")).at(-1)?.["headers"]).toMatchObject(trace);
    expect(await last()).toMatchObject(trace);
    await send({ baggage: "only=this" });
    const headers = (await backend.events("http")).at(-1)?.["headers"];
    expect([headers.traceparent, headers.baggage]).toEqual([undefined, "only=this"]);
  }
});

/**
 * Rules through a real gateway: what a principal may not use does not exist for it, by whatever way
 * it asks, and what it may use is called as the rules say.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { META_TOOL_NAMES } from "../../../src/config/schema/offerings.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const tokens = { ada: "the-long-token-of-ada", bob: "the-long-token-of-bob" };
const clients = Object.fromEntries(Object.entries(tokens).map(([name, token]) => [name, { token }]));
const bob = { principals: ["bob"] };

type Rules = readonly Record<string, unknown>[];

async function start(rules: Rules, more: Record<string, unknown> = {}) {
  const [web, db] = await Promise.all([startScripted({ name: "web" }), startScripted({ name: "db", era: "modern" })]);
  const config = {
    mcpServers: { web: web.entry, db: db.entry },
    gateway: { auth: { clients } },
    policy: { rules },
    metaTools: { enabled: META_TOOL_NAMES },
    ...more,
  };
  return { ...(await startGoblin(config)), web, db, config };
}

async function as(url: string, name: keyof typeof tokens) {
  const http = rawHttp(url);
  http.headers["authorization"] = `Bearer ${tokens[name]}`;
  await http.initialize();
  return http;
}

type Http = Awaited<ReturnType<typeof as>>;

/** The whole error, without what differs between any two requests. */
async function errorOf(http: Http, method: string, params: Record<string, unknown>, name: string): Promise<string> {
  const { status, message } = await http.call(method, params);
  const { requestId: _, ...data } = message.error?.data ?? {};
  return JSON.stringify({ status, error: message.error, data })
    .replaceAll(/"requestId":"[^"]*"/g, "")
    .replaceAll(name, "NAME")
    .replaceAll(encodeURIComponent(name), "NAME");
}

const names = (list: readonly { name: string }[]): string[] => list.map(({ name }) => name);

describe("what a principal may not use", () => {
  const rules = [
    { effect: "deny", tools: ["web/add", "db_*"], who: bob },
    { effect: "deny", server: "web", prompts: ["greet"], who: bob },
    { effect: "deny", resources: ["text:///*", "item://secret/*", "query:*"], who: bob },
  ];

  test("is not listed, for clients of both eras; others see it", async () => {
    const { url } = await start(rules);
    const headers = { authorization: `Bearer ${tokens.bob}` };
    const mine = { authorization: `Bearer ${tokens.ada}` };
    for (const connect of [
      (given: Record<string, string>) => connectV1({ url, headers: given }),
      (given: Record<string, string>) => connectV2({ url, headers: given, era: "modern" }),
    ]) {
      const [{ client: ada }, { client }] = await Promise.all([connect(mine), connect(headers)]);
      const shown = names((await client.listTools()).tools).filter((name) => /^(web|db)_/.test(name));
      const all = names((await ada.listTools()).tools).filter((name) => /^(web|db)_/.test(name));
      expect(shown).toEqual(all.filter((name) => name !== "web_add" && !name.startsWith("db_")));
      expect(shown).toContain("web_echo");
      expect(names((await client.listPrompts()).prompts)).not.toContain("web_greet");
      expect(names((await client.listPrompts()).prompts)).toContain("db_greet");
      expect(names((await ada.listPrompts()).prompts)).toContain("web_greet");
      expect(names((await client.listResources()).resources)).not.toContain("hello");
      expect(names((await ada.listResources()).resources)).toContain("hello");
      const templates = names((await client.listResourceTemplates()).resourceTemplates);
      expect([templates.includes("item"), templates.includes("search")]).toEqual([true, false]);
    }
  });

  test("is answered with the same bytes as what does not exist", async () => {
    const { url, web, db } = await start(rules);
    const http = await as(url, "bob");
    const same = async (
      method: string,
      params: (name: string) => Record<string, unknown>,
      hidden: string,
      none: string,
    ) =>
      expect([hidden, await errorOf(http, method, params(hidden), hidden)]).toEqual([
        hidden,
        await errorOf(http, method, params(none), none),
      ]);
    const call = (name: string) => ({ name, arguments: { a: 1, b: 2 } });
    for (const hidden of ["web_add", "add", "db_add", "db_echo"]) await same("tools/call", call, hidden, "web_nothing");
    await same("prompts/get", (name) => ({ name, arguments: { name: "x" } }), "web_greet", "web_nothing");
    const complete = (name: string) => ({
      ref: { type: "ref/prompt", name },
      argument: { name: "style", value: "" },
    });
    await same("completion/complete", complete, "web_greet", "web_nothing");
    const completeUri = (uri: string) => ({ ref: { type: "ref/resource", uri }, argument: { name: "q", value: "" } });
    await same("completion/complete", completeUri, "query://search{?q,limit}", "other://search{?q,limit}");
    for (const method of ["resources/read", "resources/subscribe"]) {
      const read = (uri: string) => ({ uri });
      for (const hidden of ["text:///hello", "item://secret/1", "item://secret/%31", "item://x/../secret/1"])
        await same(method, read, hidden, "nothing:///hello");
      const all = (await (await as(url, "ada")).call("resources/list")).message.result.resources as { uri: string }[];
      const listed = all.find(({ uri }) => uri.includes("hello"));
      await same(method, read, listed!.uri, listed!.uri.replace("hello", "nothing"));
    }
    const describeTool = (name: string) => ({ name: "describe_tool", arguments: { name } });
    const callTool = (name: string) => ({ name: "call_tool", arguments: { name, arguments: {} } });
    for (const meta of [describeTool, callTool]) {
      const answered = (name: string) => errorOf(http, "tools/call", meta(name), name);
      // Similar names are suggested, of those that are visible.
      const plain = (text: string) => text.replaceAll(/\.? Did you mean [^?]*\?|,?"didYouMean":\[[^\]]*\]/g, "");
      expect(plain(await answered("web_add"))).toBe(plain(await answered("web_nothing")));
      expect(await answered("web_add")).toMatch(/not found: NAME(?!.*(web_add|db_))/);
    }
    for (const server of [web, db]) {
      for (const method of ["prompts/get", "resources/read", "completion/complete"])
        expect(await server.received(method)).toEqual([]);
      expect((await server.received("tools/call")).map(({ message }) => message.params.name)).toEqual([]);
    }
  });

  test("is not found by search, and other spellings of its name lead nowhere", async () => {
    const { url, web } = await start(rules);
    const http = await as(url, "bob");
    const found = await http.call("tools/call", { name: "search_tools", arguments: { query: "adds two numbers add" } });
    expect(JSON.stringify(found.message)).not.toMatch(/web_add|db_/);
    const listed = await http.call("tools/call", { name: "catalog_tools", arguments: {} });
    expect(JSON.stringify(listed.message)).not.toMatch(/web_add|db_/);
    for (const name of [
      "WEB_ADD",
      "web_Add",
      "web/add",
      "web_add ",
      "web_\u0430dd",
      "web_ad%64",
      "web_add\u0000",
      "ＷＥＢ_ADD",
    ])
      expect((await http.call("tools/call", { name, arguments: { a: 1, b: 2 } })).message.error?.code).toBe(-32602);
    // In a batch, as a task, and with the name twice.
    const body = (name: string) =>
      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{${name},"arguments":{"a":1,"b":2},"task":{"ttl":1000}}}`;
    for (const name of ['"name":"web_add"', '"name":"web_echo","name":"web_add"', '"n\\u0061me":"web_add"']) {
      for (const text of [body(name), `[${body(name)}]`]) {
        const answer = await http.post(text, { "content-type": "application/json" });
        expect(JSON.stringify(answer.json)).toContain("error");
      }
    }
    expect(await web.received("tools/call")).toEqual([]);
  });

  test("is not reached by a cursor of another principal's list", async () => {
    const { url } = await start(rules, { lists: { pageSize: 3 } });
    const [ada, http] = [await as(url, "ada"), await as(url, "bob")];
    let cursor: string | undefined;
    do {
      const { result } = (await ada.call("tools/list", cursor === undefined ? {} : { cursor })).message;
      const mine = await http.call("tools/list", { cursor: result.nextCursor ?? cursor });
      expect(JSON.stringify(mine.message.result)).not.toMatch(/"web_add"|"db_/);
      cursor = result.nextCursor;
    } while (cursor !== undefined);
  });

  test("of a whole server includes the server itself", async () => {
    const { url } = await start([{ effect: "deny", server: "db", who: bob }]);
    const http = await as(url, "bob");
    const answer = await http.call("tools/call", { name: "catalog_servers", arguments: {} });
    expect(JSON.stringify(answer.message)).not.toMatch(/\bdb\b/);
    const alone = rawHttp(url.replace(/\/mcp$/, "/mcp/s/db"));
    alone.headers["authorization"] = `Bearer ${tokens.bob}`;
    expect((await alone.initialize()).status).toBe(404);
    alone.headers["authorization"] = `Bearer ${tokens.ada}`;
    expect((await alone.initialize()).status).toBe(200);
  });
});

test("with deny by default, only what a rule allows exists, and only in the profile", async () => {
  const { url } = await start([], {
    policy: { default: "deny", rules: [{ effect: "allow", tools: ["*/echo", "web/add"] }] },
    profiles: { one: { servers: ["web"] } },
    metaTools: { enabled: [] },
  });
  const http = await as(url, "ada");
  expect(names((await http.call("tools/list")).message.result.tools)).toEqual(["db_echo", "web_add", "web_echo"]);
  expect((await http.call("prompts/list")).message.result.prompts).toEqual([]);
  expect((await http.call("resources/list")).message.result.resources).toEqual([]);
  const one = await as(url.replace(/\/mcp$/, "/mcp/p/one"), "bob");
  expect(names((await one.call("tools/list")).message.result.tools)).toEqual(["web_add", "web_echo"]);
});

describe("rules about arguments", () => {
  const rules = [
    {
      id: "no-secrets",
      effect: "deny",
      server: ["web", "db"],
      tools: ["echo"],
      when: "args.text.contains('secret')",
      reason: "secrets stay here",
    },
    { effect: "allow", server: "web", tools: ["add"], set: { b: 40 }, hide: ["extra"] },
    { effect: "allow", server: "db", tools: ["route"], set: { region: "eu" } },
    { effect: "deny", resources: ["item:*"], when: "args.uri.endsWith('/13')" },
    { effect: "deny", prompts: ["greet"], when: "args.name == 'root'" },
  ];

  test("refuse calls with a reason, in the audit file with the rule, and log what cannot be told", async () => {
    const folder = await mkdtemp(join(tmpdir(), "goblin-policy-"));
    onDispose(() => rm(folder, { recursive: true, force: true }));
    const audit = join(folder, "audit.jsonl");
    const { url, logs, web } = await start(rules, { log: { audit } });
    const http = await as(url, "ada");
    const echo = (text: unknown) => http.call("tools/call", { name: "web_echo", arguments: { text } });
    expect((await echo("fine")).message.result.structuredContent).toEqual({ text: "fine" });
    expect((await echo("a secret")).message.error).toMatchObject({
      code: -32013,
      message: "web_echo may not be used with these arguments: secrets stay here",
      data: { code: "POLICY_DENIED", reason: "secrets stay here" },
    });
    expect((await echo(7)).message.error).toMatchObject({
      code: -32602,
      message: 'Invalid params: "text" must be of the type string',
    });
    expect((await echo(null)).message.error.code).toBe(-32013);
    expect(logs.find(({ msg }) => msg.includes("could not be evaluated"))).toMatchObject({
      level: "warn",
      msg: "denied: the condition of no-secrets could not be evaluated: no matching overload",
    });
    // The meta tool is no way around.
    const inner = { name: "web_echo", arguments: { text: "secret" } };
    const meta = await http.call("tools/call", { name: "call_tool", arguments: inner });
    expect(JSON.stringify(meta.message)).toContain("secrets stay here");
    expect(await web.received("tools/call")).toHaveLength(1);
    const lines = await until(() => {
      const all = readFileSync(audit, "utf8").trim().split("\n");
      return all.length < 5 ? undefined : all.map((line) => JSON.parse(line) as Record<string, unknown>);
    });
    expect(lines.map(({ code, rule }) => [code, rule])).toEqual([
      [undefined, undefined],
      ["POLICY_DENIED", "no-secrets"],
      ["INVALID_PARAMS", undefined],
      ["POLICY_DENIED", "no-secrets"],
      ["POLICY_DENIED", "no-secrets"],
    ]);
  });

  test("apply to resources, subscriptions and prompts", async () => {
    const { url } = await start(rules);
    const http = await as(url, "ada");
    const [web] = (await http.call("resources/templates/list")).message.result.resourceTemplates as {
      uriTemplate: string;
    }[];
    const uri = (id: string) => web!.uriTemplate.replace("{kind}", "x").replace("{id}", id);
    expect((await http.call("resources/read", { uri: uri("12") })).message.error).toBeUndefined();
    for (const method of ["resources/read", "resources/subscribe"])
      expect((await http.call(method, { uri: uri("13") })).message.error?.code).toBe(-32013);
    const greet = (name: string) => http.call("prompts/get", { name: "web_greet", arguments: { name } });
    expect((await greet("ada")).message.error).toBeUndefined();
    expect((await greet("root")).message.error?.code).toBe(-32013);
  });

  test("set and hide arguments in the list and in the call, and nothing else changes", async () => {
    const { url, web, db } = await start(rules);
    const http = await as(url, "ada");
    const { tools } = (await http.call("tools/list")).message.result as {
      tools: { name: string; inputSchema: { properties: object; required?: string[] } }[];
    };
    const schemaOf = (name: string) => tools.find((tool) => tool.name === name)!.inputSchema;
    expect(schemaOf("web_add")).toEqual({
      type: "object",
      properties: { a: { type: "number" } },
      required: ["a"],
      "x-schema": "kept",
    });
    expect(Object.keys(schemaOf("db_route").properties)).toEqual([]);
    const described = await http.call("tools/call", { name: "describe_tool", arguments: { name: "web_add" } });
    expect(JSON.stringify(described.message)).not.toContain('"b"');
    await http.post(
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"web_add","arguments":{"a": 2.0,"b":1, "extra":{} ,"c":9007199254740993}}}',
      { "content-type": "application/json" },
    );
    const [got] = await web.received("tools/call");
    expect(got!["raw"] ?? JSON.stringify(got!.message)).toContain('{"a": 2.0,"b":40,"c":9007199254740993}');
    await http.call("tools/call", { name: "db_route", arguments: {} });
    const [routed] = await db.received("tools/call");
    expect(routed!.message.params.arguments).toEqual({ region: "eu" });
  });
});

test("a reload changes what open sessions see, and tells those whose lists changed", async () => {
  const { url, gateway, config } = await start([]);
  const [ada, http] = [await as(url, "ada"), await as(url, "bob")];
  const streams = await Promise.all([ada.stream({}), http.stream({})]);
  const changed = { ...config, policy: { rules: [{ effect: "deny", tools: ["web/add"], who: bob }] } };
  const text = JSON.stringify({ ...changed, gateway: { ...config.gateway, port: 0 } });
  await gateway.reload(parseConfig(text, { file: "test.json", env: process.env }).config).done;
  await streams[1]!.next(({ method }) => method === "notifications/tools/list_changed");
  expect(names((await http.call("tools/list")).message.result.tools)).not.toContain("web_add");
  expect((await http.call("tools/call", { name: "web_add", arguments: {} })).message.error.code).toBe(-32602);
  expect(names((await ada.call("tools/list")).message.result.tools)).toContain("web_add");
  expect(streams[0]!.messages).toEqual([]);
});

test("an announcement of lists that look the same reaches those who see a part of them", async () => {
  const { url, web, gateway } = await start([{ effect: "deny", server: "web", tools: ["*"], who: bob }]);
  const [ada, http] = [await as(url, "ada"), await as(url, "bob")];
  const [heard, silent] = await Promise.all([ada.stream({}), http.stream({})]);
  const count = (stream: { messages: { method?: string }[] }, list: string): number =>
    stream.messages.filter(({ method }) => method === `notifications/${list}/list_changed`).length;
  await until(() => gateway.servers.isUsable("web"));
  gateway.catalog.announce("web", ["tools"]);
  await until(() => count(heard, "tools") > 0, { what: "the change to be announced" });
  // What comes later shows that nothing came before.
  await web.control("set_prompts", { keep: true, prompts: [{ name: "later" }] });
  await until(() => gateway.catalog.snapshot.prompts.find("web_later") !== undefined);
  await until(() => count(silent, "prompts") > 0, { what: "the change of prompts" });
  expect(count(silent, "tools")).toBe(0);
});

describe("A-H4: the headers that repeat arguments to a server of 2026-07-28", () => {
  const secret = `gh${"p_"}${"a1B2".repeat(9)}`;

  test.each([
    ["say what a rule sets", { set: { region: "acme" } }, "evil", "acme"],
    ["leave out what a rule hides", { hide: ["region"] }, "evil", undefined],
    ["have no secret that is masked", {}, secret, "[masked github-token]"],
    ["say what the client sent, if nothing changes it", {}, "eu", "eu"],
  ])("%s", async (_, change, region, expected) => {
    const server = await startScripted({ name: "new", era: "modern", transport: "http" });
    const { url } = await startGoblin({
      mcpServers: { new: server.entry },
      masking: { arguments: true },
      policy: { rules: [{ effect: "allow", tools: ["route"], ...change }] },
    });
    const client = rawHttp(url);
    await client.initialize();
    await client.call("tools/call", { name: "new_route", arguments: { region } });
    const [call] = await server.received("tools/call");
    expect(call?.message.params.arguments.region).toBe(expected);
    const { headers } = (await server.events("http")).at(-1)!;
    expect(headers["mcp-param-region"]).toBe(expected);
  });
});

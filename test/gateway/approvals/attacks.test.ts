/** Ways around an approval, and answers that must not count. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, describe, expect, test } from "vitest";
import { readChain } from "../../../src/auth/approvals/chain.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { askAdd, operator, runsOf, startAsking } from "../../fixtures/approvals.ts";
import { connectV1, disposeAll, onDispose, rawHttp, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const token = { ada: "the-long-token-of-ada", bob: "the-long-token-of-bob", ops: "the-long-token-of-ops" };
const auth = { clients: { ada: { token: token.ada }, bob: { token: token.bob, admin: true } } };
const gateway = { auth, admin: { tokens: [token.ops] } };

type Http = ReturnType<typeof rawHttp>;

async function as(url: string, name: keyof typeof token) {
  const http = rawHttp(url);
  http.headers["authorization"] = `Bearer ${token[name]}`;
  await http.initialize();
  return http;
}

/** Params that are sent as they are written. */
async function callText(http: Http, params: string) {
  const { messages } = await http.post(`{"jsonrpc":"2.0","id":"text","method":"tools/call","params":${params}}`);
  return { message: messages.find(({ id }) => id === "text") };
}
const add = (http: Http, args: unknown = { a: 1, b: 2 }) =>
  http.call("tools/call", { name: "web_add", arguments: args });

test("a client's token is no operator's, and who asked cannot answer", async () => {
  const folder = mkdtempSync(join(tmpdir(), "approvals-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const audit = join(folder, "audit.jsonl");
  const { url, origin, ops, web } = await startAsking({ gateway, log: { audit } }, token.ops);
  const bob = await as(url, "bob");
  const call = add(bob);
  const [row] = await ops.held();
  expect(row).toMatchObject({ who: "bob" });
  expect((await operator(origin, token.ada).allow(row!.id)).status).toBe(403);
  expect((await operator(origin).allow(row!.id)).status).toBe(401);
  expect(await operator(origin, token.bob).allow(row!.id)).toMatchObject({
    status: 403,
    body: { error: { code: "APPROVAL_SELF" } },
  });
  expect((await ops.allow(row!.id, { expect: `sha256:${"0".repeat(64)}` })).body.error.code).toBe("APPROVAL_CHANGED");
  expect((await ops.allow("0000000000")).body.error.code).toBe("APPROVAL_NOT_FOUND");
  expect(await runsOf(web)).toEqual([]);
  // Two answers at once: one counts.
  const answers = await Promise.all([ops.allow(row!.id, { expect: row!.digest }), ops.deny(row!.id)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  await call;
  // Answered once, and never again.
  expect((await ops.allow(row!.id, { expect: row!.digest })).status).toBe(409);
  const read = () => (existsSync(audit) ? readFileSync(audit, "utf8") : "");
  await until(() => read().includes('"event":"returned"') || read().includes('"event":"denied"'));
  const { lines, broken } = readChain(read());
  expect(broken).toBeUndefined();
  const told = lines.map(({ value }) => [value["event"], value["by"], value["why"]].filter(Boolean).join(" "));
  expect(told.slice(0, 4)).toEqual([
    "proposed",
    "refused bob self",
    expect.stringMatching(/^refused token:\w+ changed$/),
    expect.stringMatching(/unknown$/),
  ]);
  // The audit file has arguments only if it is told to.
  expect(read()).not.toContain('"arguments"');
});

test("an answer that is replayed or comes too late is refused, and is a line of the chain", async () => {
  const folder = mkdtempSync(join(tmpdir(), "approvals-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const audit = join(folder, "audit.jsonl");
  const { url, ops, web } = await startAsking({ gateway, log: { audit } }, token.ops);
  const ada = await as(url, "ada");
  const call = add(ada);
  const [row] = await ops.held();
  const answer = { expect: row!.digest };
  await ops.allow(row!.id, answer);
  expect((await call).message.result.content[0].text).toBe("3");
  for (const replay of [ops.allow(row!.id, answer), ops.deny(row!.id)])
    expect(await replay).toMatchObject({ status: 409, body: { error: { code: "APPROVAL_ANSWERED" } } });
  const other = add(ada, { a: 5, b: 5 });
  const [second] = await ops.held();
  await ada.delete();
  await other;
  await until(async () => (await ops.list())[1]?.state === "ended");
  for (const late of [ops.allow(second!.id), ops.deny(second!.id)])
    expect(await late).toMatchObject({ status: 409, body: { error: { code: "APPROVAL_ENDED" } } });
  const read = () => (existsSync(audit) ? readFileSync(audit, "utf8") : "");
  await until(() => read().split('"why":"late"').length === 3);
  const { lines, broken } = readChain(read());
  expect(broken).toBeUndefined();
  const told = lines.map(({ value }) => [value["event"], value["id"], value["why"]].filter(Boolean).join(" "));
  const { id } = row!;
  expect(told.filter((line) => line.includes(id)).sort()).toEqual([
    `approved ${id}`,
    `executed ${id}`,
    `proposed ${id}`,
    `refused ${id} answered`,
    `refused ${id} answered`,
    `returned ${id}`,
  ]);
  expect(told.filter((line) => line.includes(second!.id))).toEqual([
    `proposed ${second!.id}`,
    `ended ${second!.id} cancelled`,
    `refused ${second!.id} late`,
    `refused ${second!.id} late`,
  ]);
  expect(told).toHaveLength(10);
  const refused = lines.filter(({ value }) => value["event"] === "refused");
  expect(refused.map(({ value }) => String(value["by"]).startsWith("token:"))).toEqual([true, true, true, true]);
  expect(await runsOf(web)).toHaveLength(1);
});

test("a grant is nobody else's: not of another principal, endpoint's client or tool", async () => {
  const profiles = { small: { servers: ["web"] } };
  const { url, ops, web } = await startAsking({ gateway, profiles, metaTools: { enabled: ["call_tool"] } }, token.ops);
  const [ada, bob] = [await as(url, "ada"), await as(url, "bob")];
  const call = add(ada);
  const [row] = await ops.held();
  await ops.allow(row!.id, { for: "hour" });
  expect((await call).message.result.content[0].text).toBe("3");
  // The same principal and client, by any way in, has its grant.
  const meta = { name: "call_tool", arguments: { name: "web_add", arguments: { b: 2, a: 1 } } };
  expect((await ada.call("tools/call", meta)).message.result.content[0].text).toBe("3");
  const others: [string, () => Promise<{ message: { error?: { message: string } } }>][] = [
    ["another principal", () => add(bob)],
    ["through the meta tool", () => bob.call("tools/call", meta)],
    [
      "other arguments, through the meta tool",
      () => ada.call("tools/call", { name: "call_tool", arguments: { name: "web_add", arguments: { a: 1, b: 3 } } }),
    ],
    ["a number that is written differently", () => callText(ada, '{"name":"web_add","arguments":{"a":1.0,"b":2}}')],
    ["one argument more", () => add(ada, { a: 1, b: 2, c: null })],
    ["at a profile's endpoint", async () => add(await as(`${url}/p/small`, "bob"))],
  ];
  const before = (await runsOf(web)).length;
  for (const [what, way] of others) {
    const asked = way();
    const [held] = await ops.held();
    await ops.deny(held!.id);
    expect([what, (await asked).message.error?.message]).toEqual([what, expect.stringContaining("a person denied it")]);
  }
  expect(await runsOf(web)).toHaveLength(before);
});

test("a call whose answer is too large has run: the same call is a new question", async () => {
  const policy = { rules: [{ effect: "ask", tools: ["web/big"] }] };
  const { url, ops, web } = await startAsking({ policy, limits: { resultBytes: 100_000 } });
  const raw = rawHttp(url);
  await raw.initialize();
  const big = () => raw.call("tools/call", { name: "web_big", arguments: { bytes: 200_000 } });
  const first = big();
  await ops.allow((await ops.held())[0]!.id);
  expect((await first).message.error.message).toContain("resultBytes is 100000");
  const second = big();
  await ops.deny((await ops.held())[0]!.id);
  expect((await second).message.error.message).toContain("a person denied it");
  expect(await runsOf(web, "big")).toHaveLength(1);
});

test("A-L8: a member of the params that nobody is shown does not ride on a grant", async () => {
  const { url, ops, web } = await startAsking({ gateway }, token.ops);
  const ada = await as(url, "ada");
  const call = add(ada);
  const [row] = await ops.held();
  await ops.allow(row!.id, { expect: row!.digest, for: "session" });
  await call;
  expect(await runsOf(web)).toHaveLength(1);
  const known = '"name":"web_add","arguments":{"a":1,"b":2}';
  for (const more of ['"force":true', '"uri":"x:///secret"', '"__proto__":{"force":true}', '"f\\u006frce":1']) {
    const { message } = await callText(ada, `{${known},${more}}`);
    expect(message.error).toMatchObject({ code: -32602, message: expect.stringContaining("is not shown") });
  }
  expect(await runsOf(web)).toHaveLength(1);
  const { message } = await callText(ada, `{${known},"_meta":{"progressToken":1}}`);
  expect(message.result.content[0].text).toBe("3");
});

test("arguments that two readers could understand differently are no question at all", async () => {
  const { url, ops, web } = await startAsking();
  const raw = rawHttp(url);
  await raw.initialize();
  for (const text of [
    '{"name":"web_add","arguments":{"a":1,"b":2,"a":99}}',
    '{"name":"web_add","arguments":{"a":1,"b":2,"\\u0061":99}}',
    '{"name":"web_add","arguments":{"a":1,"b":2,"A":99}}',
    '{"name":"web_add","arguments":{"a":1,"b":2},"arguments":{"a":99,"b":2}}',
    '{"name":"web_add","arguments":{"a":1,"b":2},"Arguments":{"a":99,"b":2}}',
  ])
    expect([text, (await callText(raw, text)).message.error?.data?.code]).toEqual([text, "INVALID_PARAMS"]);
  expect(await ops.list()).toEqual([]);
  expect(await runsOf(web)).toEqual([]);
});

describe("a change of the rules while a call waits", () => {
  const changes: [string, readonly Record<string, unknown>[], string][] = [
    ["denies it", [askAdd, { effect: "deny", tools: ["web/add"] }], "may not be used any more"],
    [
      "denies these arguments",
      [askAdd, { effect: "deny", tools: ["web/add"], when: "args.a == 1" }],
      "may not be used with these arguments",
    ],
    ["sets another argument, which is another question", [{ ...askAdd, set: { b: 40 } }], "a person denied it"],
  ];
  test.each(changes)("%s", async (_, rules, words) => {
    const { url, ops, web, gateway: running } = await startAsking();
    const { client } = await connectV1({ url });
    const call = client.callTool({ name: "web_add", arguments: { a: 1, b: 2 } }).then(
      () => "it ran",
      (error: Error) => error.message,
    );
    const [row] = await ops.held();
    const config = { mcpServers: { web: web.entry }, policy: { rules }, gateway: { port: 0 } };
    running.reload(parseConfig(JSON.stringify(config), { file: "test.json", env: process.env }).config);
    await ops.allow(row!.id);
    if (words.startsWith("a person")) {
      const [second] = await ops.held();
      expect(second).toMatchObject({ arguments: '{"a":1,"b":40}' });
      await ops.deny(second!.id);
    }
    expect(await call).toContain(words);
    expect(await runsOf(web)).toEqual([]);
  });
});

test("what is shown to people and kept has no secret, and what runs is what was sent", async () => {
  const { url, ops, web } = await startAsking({ policy: { rules: [{ effect: "ask", tools: ["web/echo"] }] } });
  const { client } = await connectV1({ url });
  const args = { text: "x", value: { password: "hunter22" } };
  const call = client.callTool({ name: "web_echo", arguments: args });
  const [row] = await ops.held();
  expect(row!.arguments).toBe('{"text":"x","value":{"password":"***"}}');
  const { body } = await ops.allow(row!.id, { for: "always" });
  expect(body.rule).toBeNull();
  expect(await call).toMatchObject({ structuredContent: args });
  expect(await runsOf(web, "echo")).toMatchObject([{ arguments: args }]);
});

test("each principal has its own share of calls that wait", async () => {
  const { url, ops } = await startAsking({ gateway, limits: { heldCalls: 4 } }, token.ops);
  const [ada, bob] = await Promise.all([as(url, "ada"), as(url, "bob")]);
  const calls = [1, 2, 3].map((a) => add(ada, { a, b: 1 }));
  await ops.held(2);
  expect(JSON.stringify(await Promise.race(calls))).toContain("heldCalls is 4");
  const other = add(bob, { a: 7, b: 7 });
  const rows = await ops.held(3);
  expect(rows.map(({ who }) => who).sort()).toEqual(["ada", "ada", "bob"]);
  for (const { id } of rows) await ops.deny(id);
  expect(JSON.stringify(await other)).toContain("a person denied it");
  await Promise.all(calls);
});

test("1000 calls that wait move nobody else", async () => {
  const { url, ops, web } = await startAsking({ limits: { inFlightPerSession: 2000 } });
  const [{ client: waiting, transport }, { client: other }] = await Promise.all([
    connectV1({ url }),
    connectV1({ url }),
  ]);
  const calls = Array.from({ length: 1000 }, (_, i) =>
    waiting.callTool({ name: "web_add", arguments: { a: i, b: 1 } }, undefined, { timeout: 600_000 }).then(
      () => "it ran",
      () => "refused",
    ),
  );
  const rows = await ops.held(1000);
  expect(new Set(rows.map(({ digest }) => digest)).size).toBe(1000);
  // What they hold is counted: a hundred bytes each, far from the limit.
  expect(rows.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(100_000);
  for (let i = 0; i < 20; i++)
    expect(await other.callTool({ name: "web_echo", arguments: { text: "x" } })).toMatchObject({
      structuredContent: { text: "x" },
    });
  await ops.allow(rows[500]!.id);
  expect(await calls[Number(/"a":(\d+)/.exec(rows[500]!.arguments)![1])]).toBe("it ran");
  // The end of a session ends its calls.
  await (transport as StreamableHTTPClientTransport).terminateSession();
  await until(async () => (await ops.list()).every(({ state }) => state !== "held"));
  expect(await runsOf(web)).toHaveLength(1);
});

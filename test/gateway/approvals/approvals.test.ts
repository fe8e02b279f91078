import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
/** Calls that a person must allow, with real clients of both eras and an operator at the API. */
import { afterEach, describe, expect, test } from "vitest";
import { askAdd, operator, runsOf, startAsking } from "../../fixtures/approvals.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, startScripted, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const add = { name: "web_add", arguments: { a: 1, b: 2 } };
const failed = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "it ran",
    (error: Error) => error.message,
  );

/** A client of one of the SDKs; `call` may be cancelled. */
interface AnyClient {
  readonly call: (params: typeof add, signal?: AbortSignal) => Promise<unknown>;
}

async function v1(url: string): Promise<AnyClient> {
  const { client } = await connectV1({ url });
  return { call: (params, signal) => client.callTool(params, undefined, signal && { signal }) };
}

async function v2(url: string, era: "legacy" | "modern"): Promise<AnyClient> {
  const { client } = await connectV2({ url, era });
  return { call: (params, signal) => client.callTool(params, signal && { signal }) };
}

const eras = [
  ["v1", (url: string) => v1(url)],
  ["v2 legacy", (url: string) => v2(url, "legacy")],
  ["v2 modern", (url: string) => v2(url, "modern")],
] as const;

describe.each(eras)("a %s client", (_name, connect) => {
  test("waits, and its call runs when an operator allows it", async () => {
    const { url, ops, web } = await startAsking();
    const client = await connect(url);
    const call = client.call(add);
    const [row] = await ops.held();
    expect(row).toMatchObject({ shownName: "web_add", arguments: '{"a":1,"b":2}', rule: "adds", who: null });
    expect(await runsOf(web)).toEqual([]);
    expect((await ops.allow(row!.id)).status).toBe(200);
    expect(await call).toMatchObject({ content: [{ type: "text", text: "3" }] });
    expect(await runsOf(web)).toHaveLength(1);
    const [after] = await ops.list();
    expect(after).toMatchObject({ state: "allowed", runs: 1, outcome: "ok", by: "operator" });
    // Once is once.
    const again = failed(client.call(add));
    const [second] = await ops.held();
    expect(second!.id).not.toBe(row!.id);
    await ops.deny(second!.id, { reason: "not twice" });
    expect(await again).toContain(
      "Not approved: web_add needs a person's approval, and a person denied it (not twice)",
    );
    expect(await again).toContain("Do not try it again");
    expect(await runsOf(web)).toHaveLength(1);
  });

  test("is refused when nobody answers", async () => {
    const { url, ops, web } = await startAsking({ approvals: { timeoutMs: 50 } });
    const client = await connect(url);
    const words = await failed(client.call(add));
    expect(words).toContain("nobody answered within");
    expect(words).toContain("It was not run. Do not try it again");
    const [row] = await ops.list();
    expect(row).toMatchObject({ state: "ended", ended: "timeout" });
    expect((await ops.allow(row!.id)).body.error).toMatchObject({ code: "APPROVAL_ENDED" });
    expect(await runsOf(web)).toEqual([]);
  });

  test("that goes away leaves nothing that could run", async () => {
    const { url, ops, web } = await startAsking();
    const client = await connect(url);
    const stop = new AbortController();
    const call = failed(client.call(add, stop.signal));
    const [row] = await ops.held();
    stop.abort();
    await call;
    await until(async () => (await ops.list()).find(({ ended }) => ended === "cancelled"));
    expect((await ops.allow(row!.id)).status).toBe(409);
    expect(await runsOf(web)).toEqual([]);
  });
});

test("progress keeps the client's own timer alive, and the gateway's clock stands still", async () => {
  const { url, ops } = await startAsking({ approvals: { progressMs: 100 }, timeouts: { callMs: 200, maxCallMs: 300 } });
  const { client } = await connectV1({ url });
  const seen: string[] = [];
  let heard = 0;
  const call = client.callTool(add, undefined, {
    timeout: 30_000,
    resetTimeoutOnProgress: true,
    onprogress: ({ message }) => {
      heard++;
      seen.push(String(message));
    },
  });
  const [row] = await ops.held();
  // Longer than any of the gateway's own limits for a call.
  await until(() => heard >= 6);
  expect(new Set(seen)).toEqual(new Set(["Waiting for a person to approve web_add"]));
  await ops.allow(row!.id);
  expect(await call).toMatchObject({ content: [{ text: "3" }] });
});

test("the time that a call was held is not taken from the client's time for a server's question", async () => {
  const web = await startScripted({ name: "web", transport: "http", era: "modern" });
  const { url, origin } = await startGoblin({
    mcpServers: { web: web.entry },
    policy: { rules: [{ effect: "ask", tools: ["web/ask"] }] },
    approvals: { progressMs: 100 },
    timeouts: { callMs: 1000, maxCallMs: 1000 },
  });
  const ops = operator(origin);
  const { client } = await connectV1({ url, elicitation: () => ({ action: "accept", content: { name: "Ada" } }) });
  let heard = 0;
  const asking = { name: "web_ask", arguments: { kind: "elicitation" } };
  const call = client.callTool(asking, undefined, { timeout: 60_000, onprogress: () => heard++ });
  const [row] = await ops.held();
  await until(() => heard > 12);
  await ops.allow(row!.id);
  expect(JSON.stringify(await call)).toContain("Ada");
});

test("a held call takes no place at its server", async () => {
  const { url, ops } = await startAsking({ limits: { inFlightPerServer: 1, queuePerServer: 0 } });
  const { client } = await connectV1({ url });
  const held = [client.callTool(add), client.callTool({ ...add, arguments: { a: 2, b: 2 } })];
  const rows = await ops.held(2);
  expect(await client.callTool({ name: "web_echo", arguments: { text: "free" } })).toMatchObject({
    structuredContent: { text: "free" },
  });
  await ops.allow(rows[0]!.id);
  await held[0];
  await ops.allow(rows[1]!.id);
  expect(await held[1]).toMatchObject({ content: [{ text: "4" }] });
});

describe("an answer", () => {
  test("ends when something else is approved of the server", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "approvals-lock-")), "goblin.lock");
    const { url, ops, web } = await startAsking({ lock: { mode: "warn", file } });
    const { client } = await connectV1({ url });
    const first = client.callTool(add);
    await ops.allow((await ops.held())[0]!.id, { for: "hour" });
    await first;
    await client.callTool(add);
    const current = await until(async () => (await ops.request("/api/lock")).body.servers[0]?.current);
    const body = JSON.stringify({ expect: current });
    expect((await ops.request("/api/lock/web", { method: "POST", body })).status).toBe(200);
    const again = failed(client.callTool(add));
    await ops.deny((await ops.held())[0]!.id);
    expect(await again).toContain("denied");
    expect(await runsOf(web)).toHaveLength(2);
  });

  test("for an hour holds for the same call, and for nothing else", async () => {
    const { url, ops, web } = await startAsking();
    const { client } = await connectV1({ url });
    const call = client.callTool(add);
    const twin = client.callTool(add);
    const [row] = await ops.held(2);
    const { body } = await ops.allow(row!.id, { for: "hour" });
    expect(body.grant).toMatchObject({ for: "hour", uses: null });
    await Promise.all([call, twin]);
    // Another order of members, and escapes, are the same arguments.
    await client.callTool({ name: "web_add", arguments: { b: 2, a: 1 } });
    expect(await runsOf(web)).toHaveLength(3);
    const other = failed(client.callTool({ name: "web_add", arguments: { a: 1, b: 3 } }));
    const [next] = await ops.held();
    expect(next).toMatchObject({ arguments: '{"a":1,"b":3}' });
    await ops.deny(next!.id);
    expect(await other).toContain("denied");
    // Another client is another question.
    const { client: stranger } = await connectV1({ url, name: "stranger" });
    const theirs = failed(stranger.callTool(add));
    const [third] = await ops.held();
    expect(third).toMatchObject({ client: "stranger" });
    await ops.deny(third!.id);
    await theirs;
    // Revoked, it is a question again.
    const { body: grants } = await ops.request("/api/approval-grants");
    expect(grants.items).toHaveLength(1);
    await ops.request(`/api/approval-grants/${grants.items[0].id}`, { method: "DELETE" });
    const last = failed(client.callTool(add));
    const [fourth] = await ops.held();
    await ops.deny(fourth!.id);
    expect(await last).toContain("denied");
    expect(await runsOf(web)).toHaveLength(3);
  });

  test("for the session holds in it alone, and not for a client without one", async () => {
    const { url, ops, web } = await startAsking();
    const [{ client: one }, { client: two }] = await Promise.all([connectV1({ url }), connectV1({ url })]);
    const call = one.callTool(add);
    const [row] = await ops.held();
    await ops.allow(row!.id, { for: "session" });
    await call;
    await one.callTool(add);
    expect(await runsOf(web)).toHaveLength(2);
    const theirs = failed(two.callTool(add));
    const [second] = await ops.held();
    await ops.deny(second!.id);
    expect(await theirs).toContain("denied");
    const { client: modern } = await connectV2({ url, era: "modern" });
    const without = failed(modern.callTool(add));
    const [third] = await ops.held();
    expect(await ops.allow(third!.id, { for: "session" })).toMatchObject({
      status: 400,
      body: { error: { message: "The client has no session: allow it once or for an hour" } },
    });
    await ops.deny(third!.id);
    await without;
  });

  test("for always gives the rule, with which nobody is asked about this call", async () => {
    const { url, ops } = await startAsking();
    const { client } = await connectV1({ url });
    const call = client.callTool(add);
    const [row] = await ops.held();
    const { body } = await ops.allow(row!.id, { for: "always" });
    await call;
    expect(body.rule).toBe(
      '{"effect":"allow","ask":false,"server":"web","tools":["add"],"when":"args == {\\"a\\":1,\\"b\\":2}"}',
    );
    const second = await startAsking({ policy: { rules: [askAdd, JSON.parse(body.rule)] } });
    const { client: later } = await connectV1({ url: second.url });
    expect(await later.callTool(add)).toMatchObject({ content: [{ text: "3" }] });
    const other = failed(later.callTool({ name: "web_add", arguments: { a: 2, b: 2 } }));
    const [held] = await second.ops.held();
    await second.ops.deny(held!.id);
    expect(await other).toContain("denied");
  });
});

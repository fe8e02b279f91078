/** A token that the config has no more: what it opened ends, what others opened goes on. */
import { afterEach, expect, test } from "vitest";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, type RawStream, rawHttp, type Scripted, startScripted, until } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

const LEAVES = "the-token-that-goes";
const STAYS = "the-token-that-stays";

const config = (server: Scripted, tokens: readonly string[]) => ({
  mcpServers: { one: server.entry },
  gateway: { auth: { tokens }, admin: { tokens: tokens.map((token) => `admin-${token}`) } },
});

function reload(goblin: RunningGoblin, raw: Record<string, unknown>): Promise<void> {
  const text = JSON.stringify({ ...raw, gateway: { port: 0, ...(raw["gateway"] as object) } });
  return goblin.gateway.reload(parseConfig(text, { file: "test.json", env: process.env }).config).done;
}

/** Everything that can be open, of one token. */
async function openAll({ url, sseUrl, origin }: RunningGoblin, token: string): Promise<Record<string, RawStream>> {
  const bearer = { authorization: `Bearer ${token}` };
  const session = rawHttp(url);
  Object.assign(session.headers, bearer);
  await session.initialize();
  const slow = { name: "one_progress", arguments: { steps: 1000, ms: 50 } };
  const call = { ...slow, _meta: { progressToken: 1 } };
  const client = stateless(url, { token });
  const [sse, events] = [rawHttp(sseUrl), rawHttp(`${origin}/api/events`)];
  Object.assign(sse.headers, bearer);
  events.headers["authorization"] = `Bearer admin-${token}`;
  const open = {
    standing: await session.stream({}),
    post: await session.stream({ body: { jsonrpc: "2.0", id: 9, method: "tools/call", params: call } }),
    listen: await client.stream("subscriptions/listen", { notifications: { toolsListChanged: true } }),
    stateless: await client.stream("tools/call", slow, { meta: { progressToken: 2 } }),
    sse: await sse.stream({}),
    events: await events.stream({}),
  };
  for (const [name, { status }] of Object.entries(open)) expect([name, status]).toEqual([name, 200]);
  return open;
}

test("streams and sessions of a removed token end; those of another go on", async () => {
  const server = await startScripted();
  const goblin = await startGoblin(config(server, [LEAVES, STAYS]));
  const [gone, kept] = [await openAll(goblin, LEAVES), await openAll(goblin, STAYS)];
  await reload(goblin, config(server, [STAYS]));
  const open = (streams: Record<string, RawStream>) =>
    Object.entries(streams).flatMap(([name, { ended }]) => (ended ? [] : [name]));
  await until(() => open(gone).length === 0, { what: "the end of the revoked streams" });
  expect(open(kept)).toEqual(Object.keys(kept));
  await until(async () => (await server.received("notifications/cancelled")).length === 2, {
    what: "two cancelled calls",
  });
  const authorization = `Bearer admin-${STAYS}`;
  const listed = await (await fetch(`${goblin.origin}/api/sessions`, { headers: { authorization } })).json();
  expect(listed).toMatchObject({ total: 1 });
});

test("when tokens are asked for from now on, what was open without one ends", async () => {
  const server = await startScripted();
  const goblin = await startGoblin({ mcpServers: { one: server.entry } });
  const session = rawHttp(goblin.url);
  await session.initialize();
  const open = [await session.stream({}), await rawHttp(`${goblin.origin}/api/events`).stream({})];
  await reload(goblin, config(server, [STAYS]));
  await until(() => open.every(({ ended }) => ended), { what: "the end of the streams" });
});

/**
 * A server over HTTP that speaks both eras speaks the client's own with each client. Everything
 * that works directly works through the gateway: what the server asks in the middle of a call, its
 * log messages, its errors. `era` decides otherwise.
 */
import { afterEach, describe, expect, test } from "vitest";
import { startDual } from "../fixtures/dual-server.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, type Handlers, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

const ada: Handlers = {
  name: "ada",
  elicitation: () => ({ action: "accept", content: { name: "ada" } }),
  sampling: () => ({ model: "m", role: "assistant", content: { type: "text", text: "said by ada" } }),
  roots: [{ uri: "file:///home/ada" }],
};

interface Caller {
  callTool(request: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

async function call(client: Caller, name: string): Promise<unknown> {
  const result = (await client.callTool({ name, arguments: {} })) as { content: { text: string }[]; isError?: boolean };
  return result.isError ? result : JSON.parse(result.content[0]!.text);
}

const entry = (url: string, more: Record<string, unknown> = {}) => ({
  mcpServers: { dual: { type: "http", url, ...more } },
});

describe.each([
  ["v1", connectV1],
  ["v2", connectV2],
] as const)("a client with a handshake (SDK %s)", (_, connect) => {
  test("can be asked in the middle of a call, as directly", async () => {
    const dual = await startDual();
    const goblin = await startGoblin(entry(dual.url));
    const direct = await connect({ url: dual.url, ...ada });
    const { client } = await connect({ url: goblin.url, ...ada });
    for (const tool of ["elicitation", "sampling", "roots", "input"]) {
      expect(await call(client, `dual_${tool}`)).toEqual(await call(direct.client, tool));
    }
    expect(await call(client, "dual_elicitation")).toEqual({ action: "accept", content: { name: "ada" } });
  });

  test("gets the log messages and the refusal that it gets directly", async () => {
    const dual = await startDual();
    const goblin = await startGoblin(entry(dual.url));
    const messages = async (target: string, prefix: string): Promise<unknown[]> => {
      const { client, notifications } = await connect({ url: target, ...ada });
      await call(client, `${prefix}log`);
      const logged = () => notifications.filter(({ method }) => method === "notifications/message");
      await until(() => logged().length >= 3, { what: "three log messages" });
      return logged().map(({ params }) => params);
    };
    expect(await messages(goblin.url, "dual_")).toEqual(await messages(dual.url, ""));
    const { client } = await connect({ url: goblin.url, ...ada });
    await expect(client.callTool({ name: "dual_links", arguments: {} })).rejects.toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: "url", elicitationId: "e1", url: "https://example.com/", message: "Open this" }] },
    });
  });
});

test("all clients with a handshake share one session at the server, opened for the first of them", async () => {
  const dual = await startDual();
  const goblin = await startGoblin(entry(dual.url));
  const modern = await connectV2({ url: goblin.url, era: "modern", ...ada });
  expect(await call(modern.client, "dual_input")).toEqual({ action: "accept", content: { name: "ada" } });
  expect(dual.opened()).toBe(0);
  const clients = await Promise.all([1, 2, 3].map(() => connectV1({ url: goblin.url, ...ada })));
  await Promise.all(clients.map(({ client }) => call(client, "dual_elicitation")));
  expect(dual.opened()).toBe(1);
  expect(dual.modern.filter((method) => method === "tools/call")).toHaveLength(2);
  await goblin.gateway.close();
  expect(dual.open()).toBe(0);
});

test("a session that the server forgot is opened again", async () => {
  const dual = await startDual();
  const goblin = await startGoblin(entry(dual.url));
  const { client } = await connectV1({ url: goblin.url, ...ada });
  await call(client, "dual_elicitation");
  dual.forget();
  expect(await call(client, "dual_elicitation")).toEqual({ action: "accept", content: { name: "ada" } });
  expect(dual.opened()).toBe(2);
});

test("changes of lists and resources are announced once to each client", async () => {
  const dual = await startDual();
  const goblin = await startGoblin(entry(dual.url));
  const old = await connectV1({ url: goblin.url });
  await old.client.subscribeResource({ uri: "dual+dual://counter" });
  const young = await connectV2({ url: goblin.url, era: "modern" });
  await call(old.client, "dual_log");
  const seen = ({ notifications }: typeof old, name: string) =>
    notifications.filter(({ method }) => method === `notifications/${name}`);
  dual.addTool("late");
  await until(() => seen(old, "tools/list_changed").length > 0, { what: "the changed list" });
  expect((await old.client.listTools()).tools.map(({ name }) => name)).toContain("dual_late");
  dual.touch();
  await until(() => seen(old, "resources/updated").length > 0, { what: "the update" });
  // A second update comes after everything that belongs to the first.
  dual.touch();
  await until(() => seen(old, "resources/updated").length > 1, { what: "the second update" });
  await call(young.client, "dual_log");
  expect(seen(old, "resources/updated")).toHaveLength(2);
  expect(seen(old, "tools/list_changed")).toHaveLength(1);
});

test("a server that keeps no session is asked without a handshake, which lets it ask", async () => {
  const dual = await startDual({ legacy: "stateless" });
  const goblin = await startGoblin(entry(dual.url));
  const { client } = await connectV1({ url: goblin.url, ...ada });
  expect(await call(client, "dual_input")).toEqual({ action: "accept", content: { name: "ada" } });
  expect(await call(client, "dual_input")).toEqual({ action: "accept", content: { name: "ada" } });
  expect(dual.legacy).toEqual(["initialize"]);
});

test("a server without a handshake serves all clients, with the log messages that they get elsewhere", async () => {
  const dual = await startDual({ legacy: "reject" });
  const goblin = await startGoblin(entry(dual.url));
  const { client, notifications } = await connectV1({ url: goblin.url, ...ada });
  expect(await call(client, "dual_input")).toEqual({ action: "accept", content: { name: "ada" } });
  expect(await call(client, "dual_log")).toBe("logged");
  await until(() => notifications.length >= 3, { what: "three log messages" });
  expect(notifications.map(({ params }) => params?.["level"])).toEqual(["debug", "info", "error"]);
});

test('with share "session" a client with a handshake has a session of its own at the server', async () => {
  const dual = await startDual();
  const goblin = await startGoblin(entry(dual.url, { share: "session" }));
  const clients = await Promise.all([1, 2].map(() => connectV1({ url: goblin.url, ...ada })));
  for (const { client } of clients) {
    expect(await call(client, "dual_elicitation")).toEqual({ action: "accept", content: { name: "ada" } });
  }
  expect(dual.opened()).toBe(2);
});

describe("era", () => {
  test('"modern" never shakes hands', async () => {
    const dual = await startDual();
    const goblin = await startGoblin(entry(dual.url, { era: "modern" }));
    const { client } = await connectV1({ url: goblin.url, ...ada });
    expect(await call(client, "dual_input")).toEqual({ action: "accept", content: { name: "ada" } });
    expect(dual.legacy).toEqual([]);
  });

  test('"legacy" always does, for every client', async () => {
    const dual = await startDual();
    const goblin = await startGoblin(entry(dual.url, { era: "legacy" }));
    const { client } = await connectV2({ url: goblin.url, era: "modern", ...ada });
    expect(await call(client, "dual_elicitation")).toEqual({ action: "accept", content: { name: "ada" } });
    expect(dual.modern).toEqual([]);
  });

  test("what the server does not speak is said", async () => {
    const dual = await startDual({ legacy: "reject" });
    const goblin = await startGoblin(entry(dual.url, { era: "legacy" }));
    expect(goblin.gateway.servers.status("dual")).toMatchObject({
      state: "down",
      reason: expect.stringContaining("handshake"),
    });
  });
});

/**
 * Lists that change without an announcement are noticed, and lists are shown in the order that the
 * config asks for.
 */
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { connectV1, disposeAll, rawHttp, type Scripted, startScripted, until } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const SILENT = { capabilities: { tools: { listChanged: null }, prompts: null, resources: null } };
const adding = { tools: [tool("fresh")], silent: true };

async function startSilent(options: Parameters<typeof startScripted>[0], config: Record<string, unknown> = {}) {
  const one = await startScripted({ name: "one", ...options });
  const goblin = await startGoblin({ mcpServers: { one: one.entry }, ...config });
  return { one, goblin };
}
const lists = (one: Scripted) => one.received("tools/list");

describe("a change that nobody announced", () => {
  test("of a stateless server is seen after a client has read the old list", async () => {
    const { one, goblin } = await startSilent({ era: "modern", transport: "http", script: { ...SILENT, ttlMs: 0 } });
    await one.control("set_tools", adding);
    const client = stateless(goblin.url);
    const listed = async () => (await client.call("tools/list")).text.includes("one_fresh");
    await until(listed, { everyMs: 200 });
  });

  test("is not looked for before the time to live of the list is over", async () => {
    const script = { ...SILENT, ttlMs: 3_600_000 };
    const { one, goblin } = await startSilent({ era: "modern", transport: "http", script });
    const { servers } = goblin.gateway;
    const before = (await lists(one)).length;
    for (let i = 0; i < 20; i++) servers.listRead("anyone");
    await one.control("set_tools", adding);
    await stateless(goblin.url).call("tools/call", { name: "one_echo", arguments: { text: "x" } });
    expect(await lists(one)).toHaveLength(before);
  });

  test.each(["stdio", "http"] as const)("is seen every lists.refreshMs (%s)", async (transport) => {
    const { one, goblin } = await startSilent({ transport, script: SILENT }, { lists: { refreshMs: 200 } });
    const { client, notifications } = await connectV1({ url: goblin.url });
    await one.control("set_tools", adding);
    await until(() => notifications.some(({ method }) => method === "notifications/tools/list_changed"));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("one_fresh");
  });

  test("is not looked for where the server announces changes, or the config says never", async () => {
    for (const [script, refreshMs] of [
      [{ capabilities: { prompts: { listChanged: true } } }, 50],
      [SILENT, 0],
    ] as const) {
      const { one } = await startSilent({ script }, { lists: { refreshMs } });
      const other = await startSilent({ name: "other", script: SILENT }, { lists: { refreshMs: 50 } });
      await until(async () => (await lists(other.one)).length > 3);
      expect(await lists(one)).toHaveLength(1);
    }
  });

  test("is seen after a call of a tool that the server no longer knows", async () => {
    const gone = { error: { code: -32602, message: "Tool echo not found" } };
    const rules = [{ method: "tools/call", name: "echo", do: "error", ...gone.error }];
    const { one, goblin } = await startSilent({ script: { ...SILENT, rules } }, { lists: { refreshMs: 0 } });
    const client = rawHttp(goblin.url);
    await client.initialize();
    await one.control("set_tools", adding);
    const isListed = async () => {
      await client.call("tools/call", { name: "one_echo", arguments: { text: "x" } });
      return (await client.call("tools/list")).text.includes("one_fresh");
    };
    await until(isListed, { everyMs: 200 });
  });
});

test("an announced change is passed on, even if the list is the same", async () => {
  const { one, goblin } = await startSilent({});
  const { notifications } = await connectV1({ url: goblin.url });
  const heard = () => notifications.filter(({ method }) => method === "notifications/prompts/list_changed").length;
  // Announcements in a row are one piece of news, so each gets a quiet time of its own.
  const announce = async (): Promise<boolean> => {
    if (heard() > 0) return true;
    await one.control("set_prompts", { prompts: [] });
    return false;
  };
  await until(announce, { everyMs: 1000 });
});

describe("order", () => {
  const names = ["zebra", "apple", "mango"];
  const script = {
    lists: {
      tools: names.map(tool),
      prompts: names.map((name) => ({ name })),
      resources: names.map((name) => ({ uri: `x:${name}`, name })),
      resourceTemplates: names.map((name) => ({ uriTemplate: `x:${name}/{y}`, name })),
    },
  };
  const start = async (config: Record<string, unknown>) => {
    const [b, a] = [await startScripted({ name: "b", script }), await startScripted({ name: "a", script })];
    const mcpServers = { b: b.entry, a: a.entry };
    const { url } = await startGoblin({ mcpServers, metaTools: { enabled: ["goblin_health"] }, ...config });
    return stateless(url);
  };
  const all = async (client: Awaited<ReturnType<typeof start>>, method: string, [member, key]: [string, string]) => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { result } = (await client.call(method, cursor === undefined ? {} : { cursor })).message;
      seen.push(...result[member].map((entry: Record<string, string>) => entry[key]));
      cursor = result.nextCursor;
    } while (cursor !== undefined);
    return seen;
  };

  test.each([1, 2, 100])('"server": each server\'s own, in pages of %i', async (pageSize) => {
    const client = await start({ lists: { order: "server", pageSize } });
    expect(await all(client, "tools/list", ["tools", "name"])).toEqual([
      "b_zebra",
      "b_apple",
      "b_mango",
      "a_zebra",
      "a_apple",
      "a_mango",
      "goblin_health",
    ]);
    expect(await all(client, "prompts/list", ["prompts", "name"])).toEqual([
      "b_zebra",
      "b_apple",
      "b_mango",
      "a_zebra",
      "a_apple",
      "a_mango",
    ]);
    expect(await all(client, "resources/list", ["resources", "uri"])).toEqual([
      "b+x:zebra",
      "b+x:apple",
      "b+x:mango",
      "a+x:zebra",
      "a+x:apple",
      "a+x:mango",
    ]);
    expect((await all(client, "resources/templates/list", ["resourceTemplates", "uriTemplate"]))[0]).toBe(
      "b+x:zebra/{y}",
    );
  });

  test('"sorted": by name', async () => {
    const client = await start({});
    expect(await all(client, "tools/list", ["tools", "name"])).toEqual([
      "a_apple",
      "a_mango",
      "a_zebra",
      "b_apple",
      "b_mango",
      "b_zebra",
      "goblin_health",
    ]);
  });
});

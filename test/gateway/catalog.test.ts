/**
 * What clients see of the servers' lists: names, policies, pages, changes. The servers' own logs
 * say what they were asked.
 */
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, type Recorded, rawHttp, startScripted, until } from "../fixtures/peers.ts";
import { stdioClient } from "../fixtures/stdio.ts";

afterEach(disposeAll);

const lists = (...names: string[]) => ({
  lists: { tools: names.map((name) => ({ name, description: `About ${name}`, inputSchema: { type: "object" } })) },
});

/**
 * Servers that offer just these tools, and the tools that a client then sees of them, without the
 * gateway's own.
 */
async function listedOf(servers: Record<string, { tools: string[]; entry?: object }>, config: object = {}) {
  const entries = await Promise.all(
    Object.entries(servers).map(async ([id, { tools, entry }]) => {
      const server = await startScripted({ name: id, script: lists(...tools) });
      return [id, { ...server.entry, ...entry }] as const;
    }),
  );
  const goblin = await startGoblin({ ...config, mcpServers: Object.fromEntries(entries), metaTools: { enabled: [] } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const { message } = await client.call("tools/list");
  const tools = message.result.tools as { name: string; description: string }[];
  const owner = async (name: string): Promise<unknown> => {
    const { message: answer } = await client.call("tools/call", { name, arguments: {} });
    const { server, tool } = answer.result?.structuredContent ?? {};
    return answer.error?.message ?? `${server}:${tool}`;
  };
  return { goblin, client, tools, names: tools.map(({ name }) => name), owner };
}

describe("names", () => {
  test("carry their server's id, are sorted, and lead to their owner", async () => {
    const { names, owner } = await listedOf({ zeta: { tools: ["same", "b"] }, alpha: { tools: ["same"] } });
    expect(names).toEqual(["alpha_same", "zeta_b", "zeta_same"]);
    expect(await owner("alpha_same")).toBe("alpha:same");
    expect(await owner("zeta_same")).toBe("zeta:same");
    expect(await owner("b")).toBe("zeta:b");
    expect(await owner("same")).toBe("Tool not found: same is ambiguous (alpha_same, zeta_same)");
    expect(await owner("zeta_c")).toMatch(/^Tool not found: zeta_c/);
  });

  test("that would meet are told apart: a name under a server's prefix is that server's", async () => {
    const { names, owner } = await listedOf({ a: { tools: ["b_c"] }, a_b: { tools: ["c"] } });
    expect(names).toEqual(["a_b_c", "a_b_c-e474ae"]);
    expect(await Promise.all(names.map(owner))).toEqual(["a_b:c", "a:b_c"]);
  });

  test("of servers that share a prefix are told apart where they meet", async () => {
    const entry = { prefix: "x_" };
    const { names, owner } = await listedOf({ a: { tools: ["c", "d"], entry }, b: { tools: ["c"], entry } });
    expect(names).toEqual(["x_c-6c516c", "x_c-9e58d7", "x_d"]);
    expect(new Set(await Promise.all(names.map(owner)))).toEqual(new Set(["a:c", "a:d", "b:c"]));
    expect(await owner("x_c")).toMatch(/^Tool not found: x_c/);
  });

  test("without a prefix are the server's own", async () => {
    const { names, owner } = await listedOf({
      bare: { tools: ["plain"], entry: { prefix: "" } },
      other: { tools: ["plain"], entry: { prefix: "o." } },
    });
    expect(names).toEqual(["o.plain", "plain"]);
    expect(await owner("plain")).toBe("bare:plain");
    expect(await owner("o.plain")).toBe("other:plain");
  });

  test("that are too long are cut, and work", async () => {
    const long = `${"x".repeat(70)}`;
    const { names, owner } = await listedOf(
      { s: { tools: [`${long}1`, `${long}2`, "short"] } },
      { names: { maxLength: 32 } },
    );
    expect(names.map((name) => name.length)).toEqual([7, 32, 32]);
    expect(names[1]).toMatch(/^s_x{23}-[0-9a-f]{6}$/);
    expect(new Set(await Promise.all(names.map(owner)))).toEqual(new Set(["s:short", `s:${long}1`, `s:${long}2`]));
  });
});

describe("policies", () => {
  test("allow, deny, alias and description decide what is listed and what can be called", async () => {
    const { tools, owner } = await listedOf({
      s: {
        tools: ["get_one", "get_two", "delete_one", "other", "q", "off"],
        entry: {
          tools: {
            allow: ["get_*", "delete_*", "q", "off"],
            deny: ["delete_*", "get_two", "off"],
            overrides: { q: { alias: "query", description: "Better words" } },
          },
        },
      },
    });
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ["s_get_one", "About get_one"],
      ["s_query", "Better words"],
    ]);
    expect(await owner("s_query")).toBe("s:q");
    expect(await owner("s_q")).toBe("s:q");
    for (const name of ["s_get_two", "s_delete_one", "s_other", "s_off", "delete_one"]) {
      expect(await owner(name)).toMatch(new RegExp(`^Tool not found: ${name}`));
    }
  });

  test("a server that is disabled is neither started nor listed", async () => {
    const off = await startScripted({ name: "off" });
    const goblin = await startGoblin({
      mcpServers: { off: { ...off.entry, enabled: false } },
      metaTools: { enabled: [] },
    });
    const client = rawHttp(goblin.url);
    await client.initialize();
    expect((await client.call("tools/list")).message.result).toEqual({ tools: [] });
    expect(await off.log()).toEqual([]);
  });
});

test("all pages of a server are fetched, and the gateway's own pages are the whole list", async () => {
  const server = await startScripted({ name: "s", tools: 25, prompts: 7, resources: 9, pageSize: 4 });
  const goblin = await startGoblin({ mcpServers: { s: server.entry }, lists: { pageSize: 6 } });
  const { client } = await connectV1({ url: goblin.url });
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  const first = (await raw.call("tools/list")).message.result;
  expect([first.tools.length, typeof first.nextCursor]).toEqual([6, "string"]);
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    names.push(...page.tools.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(names).toEqual([...names].sort());
  for (let n = 1; n <= 25; n++) expect(names).toContain(`s_tool_${n}`);
  const cursors = (await server.received("prompts/list")).map(({ message }) => message.params.cursor);
  expect(cursors).toEqual([undefined, "after:4", "after:8"]);
});

describe("a list that changes", () => {
  const count = (notifications: readonly Recorded[], kind: string) =>
    notifications.filter(({ method }) => method === `notifications/${kind}/list_changed`).length;

  test("is fetched from its server alone, and every client hears of it once", async () => {
    const one = await startScripted({ name: "one" });
    const two = await startScripted({ transport: "http", name: "two" });
    const goblin = await startGoblin({ mcpServers: { one: one.entry, two: two.entry } });
    const clients = [
      await connectV1({ url: goblin.url }),
      await connectV2({ url: goblin.url }),
      await connectV1({ sseUrl: goblin.sseUrl }),
    ];
    const onStdio = stdioClient(goblin.gateway);
    expect(await onStdio.hello()).toMatchObject({ result: { serverInfo: {} } });
    onStdio.send({ jsonrpc: "2.0", method: "notifications/initialized" });

    for (const [n, server] of [one, two].entries()) {
      const asked = async () => [
        (await one.received("tools/list")).length,
        (await two.received("tools/list")).length,
        (await server.received("prompts/list")).length,
      ];
      const [a, b, prompts] = (await asked()) as [number, number, number];
      await server.control("set_tools", { tools: [{ name: `fresh${n}`, inputSchema: { type: "object" } }] });
      for (const { client, notifications } of clients) {
        await until(() => count(notifications, "tools") === n + 1, { what: "a notification" });
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toContain(`${server.name}_fresh${n}`);
      }
      await until(() => count(onStdio.messages(), "tools") === n + 1, { what: "a notification on stdout" });
      expect(await asked()).toEqual(n === 0 ? [a + 1, b, prompts] : [a, b + 1, prompts]);
    }
    // A change that changes nothing is passed on at most once, and other lists are not concerned.
    await one.control("flood", { kind: "list_changed", count: 50 });
    await until(async () => (await one.received("tools/list")).length >= 3);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await one.received("tools/list")).length).toBeLessThan(10);
    for (const { notifications } of clients) {
      expect(count(notifications, "tools")).toBeLessThanOrEqual(3);
      expect(["prompts", "resources"].map((kind) => count(notifications, kind))).toEqual([0, 0]);
    }
  });

  test("each kind of list is announced by its own notification", async () => {
    const server = await startScripted({ name: "s" });
    const goblin = await startGoblin({ mcpServers: { s: server.entry } });
    const { client, notifications } = await connectV1({ url: goblin.url });
    await server.control("set_prompts", { prompts: [{ name: "fresh" }] });
    await until(() => count(notifications, "prompts") === 1);
    await server.control("set_resources", { resources: [{ uri: "new:///r", name: "r" }] });
    await until(() => count(notifications, "resources") === 1);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain("s_fresh");
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain("s+new:///r");
    expect(count(notifications, "tools")).toBe(0);
  });
});

test("a server that is down keeps its entries; its calls fail and say which server it is", async () => {
  const down = await startScripted({ transport: "http", name: "down" });
  const up = await startScripted({ name: "up" });
  const goblin = await startGoblin({ mcpServers: { down: down.entry, up: up.entry } });
  const { client, notifications } = await connectV1({ url: goblin.url });
  await down.kill();
  await expect(client.callTool({ name: "down_echo", arguments: {} })).rejects.toMatchObject({
    code: -32011,
    data: { code: "BACKEND_UNAVAILABLE", serverId: "down" },
  });
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("down_echo");
  expect(await client.callTool({ name: "up_add", arguments: { a: 1, b: 1 } })).toMatchObject({
    structuredContent: { sum: 2 },
  });
  await down.restart();
  await until(
    async () => (await client.callTool({ name: "down_echo", arguments: {} }).catch(() => undefined)) !== undefined,
  );
  expect(notifications.filter(({ method }) => method.endsWith("list_changed"))).toEqual([]);
});

test("/health is up at once, /ready when every server has connected or failed", async () => {
  const slow = await startScripted({ name: "slow", script: { start: { delayMs: 600 } } });
  const broken = { command: "goblin-test-no-such-command" };
  const goblin = await startGoblin({ mcpServers: { slow: slow.entry, broken } }, { wait: false });
  const ready = () => rawHttp(`${goblin.origin}/ready`).send({});
  expect((await rawHttp(`${goblin.origin}/health`).send({})).json).toMatchObject({ status: "ok" });
  expect((await ready()).status).toBe(503);
  await until(async () => (await ready()).status === 200);
  expect(goblin.gateway.servers.status("slow")?.state).toBe("ready");
  expect(goblin.gateway.servers.status("broken")?.state).toBe("down");
});

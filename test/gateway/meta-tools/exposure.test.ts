import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { connectV1, disposeAll, startScripted, until } from "../../fixtures/peers.ts";
import { metaClient } from "./rig.ts";

afterEach(disposeAll);

const META = [
  "call_tool",
  "catalog_prompts",
  "catalog_resource_templates",
  "catalog_resources",
  "catalog_servers",
  "catalog_tools",
  "describe_prompt",
  "describe_resource",
  "describe_tool",
  "goblin_health",
  "search_prompts",
  "search_resources",
  "search_tools",
];

const tool = (name: string, description = name) => ({ name, description, inputSchema: { type: "object" } });
const small = (name: string, tools: string[]) =>
  startScripted({ name, script: { lists: { tools: tools.map((one) => tool(one)) } } });

describe("tools.expose", () => {
  test("all: every tool and the meta tools", async () => {
    const a = await small("a", ["one", "two"]);
    const { url } = await startGoblin({ mcpServers: { a: a.entry } });
    const client = await metaClient(url);
    expect(await client.tools()).toEqual(["a_one", "a_two", ...META]);
  });

  test("search: the meta tools only; every tool stays callable by its name", async () => {
    const a = await small("a", ["one", "two"]);
    const { url } = await startGoblin({ mcpServers: { a: a.entry }, tools: { expose: "search" } });
    const client = await metaClient(url);
    expect(await client.tools()).toEqual(META);
    const { result } = await client.call("a_two", { x: 1 });
    expect(JSON.stringify(result)).toContain("two");
    expect((await client.ask("catalog_tools")).tools).toHaveLength(2);
    const { expose, tokens, servers } = await client.ask("catalog_servers");
    expect(expose).toBe("search");
    expect(tokens.listed).toBe(tokens.search);
    expect(tokens.all).toBe(tokens.search + servers[0].tokens);
    expect(servers[0]).toMatchObject({ tools: 2, listedTools: 0, listedTokens: 0 });
  });

  test("a server's own setting replaces it: all, search, pinned", async () => {
    const [a, b, c] = await Promise.all([
      small("a", ["one", "two"]),
      small("b", ["one", "two"]),
      small("c", ["one", "two", "three"]),
    ]);
    const mcpServers = {
      a: { ...a.entry, expose: "all" },
      b: b.entry,
      c: { ...c.entry, expose: { pinned: ["two", "c_three"] } },
    };
    const { url } = await startGoblin({ mcpServers, tools: { expose: "search" } });
    expect(await (await metaClient(url)).tools()).toEqual(["a_one", "a_two", "c_three", "c_two", ...META].sort());
    const inAll = await startGoblin({ mcpServers: { ...mcpServers, a: { ...a.entry, expose: "search" } } });
    const client = await metaClient(inAll.url);
    expect(await client.tools()).toEqual(["b_one", "b_two", "c_three", "c_two", ...META].sort());
    expect((await client.ask("search_tools", { query: "one", serverId: "a" })).tools[0].name).toBe("a_one");
  });

  test("auto: all under the budget; over it search, which sends one list_changed", async () => {
    const a = await small("a", ["one", "two"]);
    const b = await small("b", ["three"]);
    const { url } = await startGoblin({
      mcpServers: { a: a.entry, b: { ...b.entry, expose: { pinned: ["three"] } } },
      tools: { expose: "auto", budgetTokens: 4000 },
    });
    const client = await metaClient(url);
    const listener = await connectV1({ url });
    expect(await client.tools()).toEqual(["a_one", "a_two", "b_three", ...META].sort());
    const grown = Array.from({ length: 60 }, (_, n) =>
      tool(`more_${n}`, "A tool with a description that is long enough to take many tokens ".repeat(4)),
    );
    await a.control("set_tools", { tools: grown, keep: false });
    await until(async () => (await client.tools()).length === META.length + 1);
    expect(await client.tools()).toEqual(["b_three", ...META].sort());
    await until(() => listener.notifications.length > 0, { what: "a notification" });
    await sleep(150);
    expect(listener.notifications.map(({ method }) => method)).toEqual(["notifications/tools/list_changed"]);
    // What clients do not see changes without disturbing them, and is found at once.
    await a.control("set_tools", { tools: [...grown, tool("zebra")], keep: false });
    await until(async () => (await client.ask("search_tools", { query: "zebra" })).count === 1);
    await sleep(50);
    expect(listener.notifications).toHaveLength(1);
    await a.control("set_tools", { tools: [tool("one")], keep: false });
    await until(async () => (await client.tools()).includes("a_one"));
    await until(() => listener.notifications.length > 1, { what: "another notification" });
    await sleep(150);
    expect(listener.notifications).toHaveLength(2);
  });
});

describe("metaTools.enabled", () => {
  test("only those are listed, callable, and have their names reserved", async () => {
    const a = await small("a", ["one"]);
    const b = await small("b", ["call_tool", "search_tools", "health"]);
    const { url } = await startGoblin({
      mcpServers: { a: a.entry, b: { ...b.entry, prefix: "" } },
      metaTools: { enabled: ["search_tools", "goblin_health"] },
    });
    const client = await metaClient(url);
    const tools = await client.tools();
    expect(tools.filter((name) => !name.startsWith("search_tools-"))).toEqual([
      "a_one",
      "call_tool",
      "goblin_health",
      "health",
      "search_tools",
    ]);
    expect(tools).toHaveLength(6);
    // A listed tool called "health" is the server's; the gateway's own name always wins.
    expect(JSON.stringify((await client.call("health")).result)).toContain("health");
    expect((await client.call("health")).result.structuredContent?.status).toBeUndefined();
    expect((await client.ask("goblin_health")).status).toBe("ok");
    expect((await client.ask("search_tools", { query: "one" })).count).toBe(1);
    const { error } = await client.call("catalog_tools");
    expect(error.data.code).toBe("TOOL_NOT_FOUND");
  });
});

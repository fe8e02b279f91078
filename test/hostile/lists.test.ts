/**
 * What one server lists, and how often it reports changes, has no effect on other servers.
 */
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { type HostileOptions, startHostile } from "../fixtures/hostile.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

async function open(options: HostileOptions, config: Record<string, unknown> = {}) {
  const bad = await startHostile(options);
  const good = await startScripted({ name: "good" });
  const goblin = await startGoblin({ mcpServers: { bad: bad.entry, good: good.entry }, ...config });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const state = async (id: string) => {
    const { items } = (await (await fetch(`${goblin.origin}/api/servers`)).json()) as {
      items: { id: string; state: string; reason?: string }[];
    };
    return items.find((server) => server.id === id)!;
  };
  return { bad, goblin, client, state };
}

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });

test.each(["before its answer", "after its answer"])(
  "a server that announces a change with every list, %s, becomes ready and is not asked forever",
  async (when) => {
    const { bad, state, client } = await open({
      methods: {
        "tools/list": ({ id }, response) => {
          response.writeHead(200, { "content-type": "text/event-stream" });
          const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
          const answer = { jsonrpc: "2.0", id, result: { tools: [tool("one")] } };
          const messages = when === "before its answer" ? [changed, answer] : [answer, changed];
          response.end(messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join(""));
        },
      },
    });
    expect(await state("bad")).toMatchObject({ state: "ready" });
    const lists = () => bad.asked.filter(({ method }) => method === "tools/list").length;
    // Enough for hundreds of rounds without a pause.
    for (let i = 0; i < 300; i++) await client.call("ping");
    expect(lists()).toBeLessThan(15);
    await until(() => lists() > 2);
  },
);

describe("a schema that is nested 5 000 levels deep", () => {
  test.each(["outputSchema", "inputSchema"])("%s: the tool is left out, the others are listed", async (member) => {
    const deep = `{"name":"deep","${member}":${'{"items":'.repeat(5_000)}{}${"}".repeat(5_000)}}`;
    const { client, state } = await open({
      methods: {
        "tools/list": ({ id }, response) => {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[${deep},${JSON.stringify(tool("flat"))}]}}`);
        },
      },
    });
    const { result } = (await client.call("tools/list", {})).message;
    const names = result.tools.map(({ name }: { name: string }) => name);
    expect(names).toContain("bad_flat");
    expect(names).toContain("good_add");
    expect(names).not.toContain("bad_deep");
    expect(await state("bad")).toMatchObject({
      state: "degraded",
      reason: 'tools/list: "deep" left out: it is nested deeper than common JSON readers go',
    });
  });

  test("one of 20 000 levels fails the list of its server, and nobody else's", async () => {
    const deep = `{"name":"deep","inputSchema":${'{"items":'.repeat(20_000)}{}${"}".repeat(20_000)}}`;
    const { client, state } = await open({
      methods: {
        "tools/list": ({ id }, response) => {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[${deep}]}}`);
        },
      },
    });
    const { result } = (await client.call("tools/list", {})).message;
    const names = result.tools.map(({ name }: { name: string }) => name);
    expect(names).toContain("good_add");
    expect(names).not.toContain("bad_deep");
    expect((await state("bad")).reason).toContain("tools/list failed");
  });
});

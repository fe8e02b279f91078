/**
 * Profiles and single servers: what each endpoint shows, in lists and in calls, to real clients of
 * both generations; who may use which; and what a reload changes.
 */
import { afterEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, rawHttp, startScripted, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const profiles = {
  research: { servers: ["web"], tools: { deny: ["sleep"] }, prompts: { deny: ["rich"] } },
  pair: { servers: ["*"], tools: { allow: ["db/echo", "add"] } },
  searching: { servers: ["web"], expose: "search" },
};

async function start(more: Record<string, unknown> = {}) {
  const [web, db] = await Promise.all([startScripted({ name: "web" }), startScripted({ name: "db" })]);
  const config = {
    mcpServers: { web: web.entry, db: db.entry },
    metaTools: { enabled: ["search_tools", "catalog_servers"] },
    profiles,
    ...more,
  };
  return { ...(await startGoblin(config)), web, db, config };
}

const at = (url: string, path: string): string => url.replace(/\/mcp$/, path);
const names = (list: readonly { name: string }[]): string[] => list.map(({ name }) => name);

describe("a profile", () => {
  test("shows its part to clients of both generations and all transports, under the usual names", async () => {
    const { url, sseUrl } = await start();
    const clients = [
      (await connectV1({ url: at(url, "/mcp/p/research") })).client,
      (await connectV1({ sseUrl: `${sseUrl}/p/research` })).client,
      (await connectV2({ url: at(url, "/mcp/p/research") })).client,
      (await connectV2({ url: at(url, "/mcp/p/research"), era: "modern" })).client,
    ];
    const everything = (await connectV1({ url })).client;
    const all = names((await everything.listTools()).tools);
    expect(all).toContain("db_echo");
    for (const client of clients) {
      const listed = names((await client.listTools()).tools);
      expect(listed).toEqual(all.filter((name) => !name.startsWith("db_") && name !== "web_sleep"));
      expect(names((await client.listPrompts()).prompts)).toEqual(["web_greet", "web_interview"]);
      const { content } = (await client.callTool({ name: "web_add", arguments: { a: 1, b: 2 } })) as {
        content: unknown;
      };
      expect(content).toEqual([{ type: "text", text: "3" }]);
      for (const name of ["web_sleep", "sleep", "db_add", "db_nothing"]) {
        await expect(client.callTool({ name, arguments: { ms: 1 } })).rejects.toThrow(`Tool not found: ${name}`);
      }
      expect(client.getInstructions()).toContain("web");
      expect(client.getInstructions()).not.toMatch(/\bdb\b/);
    }
  });

  test("selects tools of one server, and finds only those that it shows", async () => {
    const { url } = await start();
    const { client } = await connectV1({ url: at(url, "/mcp/p/pair") });
    const shown = ["catalog_servers", "db_add", "db_echo", "search_tools", "web_add"];
    expect(names((await client.listTools()).tools)).toEqual(shown);
    const found = (await client.callTool({
      name: "search_tools",
      arguments: { query: "", limit: 100 },
    })) as unknown as {
      structuredContent: { tools: { name: string }[] };
    };
    expect(names(found.structuredContent.tools)).toEqual(["db_add", "db_echo", "web_add"]);
  });

  test("decides for itself whether tools are listed or found, and reports only its own servers", async () => {
    const { url } = await start();
    const { client } = await connectV1({ url: at(url, "/mcp/p/searching") });
    expect(names((await client.listTools()).tools)).toEqual(["catalog_servers", "search_tools"]);
    const { structuredContent } = (await client.callTool({ name: "catalog_servers", arguments: {} })) as unknown as {
      structuredContent: { servers: { serverId: string; tools: number }[]; expose: string };
    };
    expect(structuredContent.expose).toBe("search");
    expect(structuredContent.servers.map(({ serverId }) => serverId)).toEqual(["web"]);
  });

  test("has sessions of its own: an id of another endpoint is unknown", async () => {
    const { url } = await start();
    const research = rawHttp(at(url, "/mcp/p/research"));
    await research.initialize();
    expect((await research.call("tools/list")).status).toBe(200);
    for (const path of ["/mcp", "/mcp/p/pair", "/mcp/s/web"]) {
      const other = rawHttp(at(url, path));
      Object.assign(other.headers, research.headers);
      expect((await other.call("tools/list")).status).toBe(404);
    }
  });

  test("that does not exist is answered like any other path without an endpoint", async () => {
    const { url } = await start();
    const answers = await Promise.all(
      ["/mcp/p/nothing", "/mcp/s/nothing", "/mcp/p/%E0%A4%A", "/mcp/x/web", "/sse/p/nothing"].map((path) =>
        rawHttp(at(url, path)).post({ jsonrpc: "2.0", id: 1, method: "ping" }),
      ),
    );
    for (const { status, text } of answers.slice(0, 4)) {
      expect(status).toBe(404);
      expect(text).toBe(answers[0]!.text);
    }
    expect((await rawHttp(at(url, "/sse/p/nothing")).send({ verb: "GET" })).status).toBe(404);
  });
});

describe("a server alone", () => {
  test("has its own names, URIs, definitions and instructions", async () => {
    const { url, web } = await start({ tools: { expose: "search" } });
    const { client } = await connectV1({ url: at(url, "/mcp/s/web") });
    const direct = (await connectV1({ command: web.command, args: web.args })).client;
    expect(await client.listTools()).toEqual(await direct.listTools().then(sorted("tools", "name")));
    expect(await client.listPrompts()).toEqual(await direct.listPrompts().then(sorted("prompts", "name")));
    expect(await client.listResources()).toEqual(await direct.listResources().then(sorted("resources", "uri")));
    const templates = await direct.listResourceTemplates();
    expect(await client.listResourceTemplates()).toEqual(sorted("resourceTemplates", "uriTemplate")(templates));
    expect(client.getInstructions()).toBe(direct.getInstructions());
    const call = { name: "echo", arguments: { text: "hi" } };
    expect(await client.callTool(call)).toEqual(await direct.callTool(call));
    const read = { uri: "text:///hello" };
    expect(await client.readResource(read)).toEqual(await direct.readResource(read));
    expect(await client.getPrompt({ name: "rich" })).toEqual(await direct.getPrompt({ name: "rich" }));
    await expect(client.callTool({ name: "search_tools", arguments: { query: "x" } })).rejects.toThrow(/not found/);
  });
});

function sorted(member: string, key: string) {
  return (list: Record<string, unknown>): Record<string, unknown> => ({
    ...list,
    [member]: [...(list[member] as Record<string, string>[])].sort((a, b) => (a[key]! < b[key]! ? -1 : 1)),
  });
}

describe("a token", () => {
  const clients = {
    ci: { token: "token-of-ci", profile: "research" },
    both: { token: "token-of-both", profile: ["research", "pair"] },
    free: { token: "token-of-free" },
  };
  const bearer = (name: keyof typeof clients) => ({ authorization: `Bearer ${clients[name].token}` });

  test("that is tied to profiles sees these, and no other endpoint exists for it", async () => {
    const { url } = await start({ gateway: { auth: { clients } } });
    const tools = async (path: string, name: keyof typeof clients) =>
      names((await (await connectV1({ url: at(url, path), headers: bearer(name) })).client.listTools()).tools);
    expect(await tools("/mcp", "ci")).toEqual(await tools("/mcp/p/research", "free"));
    expect(await tools("/mcp/p/research", "ci")).toEqual(await tools("/mcp", "ci"));
    const union = new Set([...(await tools("/mcp/p/research", "free")), ...(await tools("/mcp/p/pair", "free"))]);
    expect(await tools("/mcp", "both")).toEqual([...union].sort());
    expect(await tools("/mcp/s/db", "both")).toEqual(["add", "echo"]);
    const status = async (path: string, headers: Record<string, string>) =>
      (await rawHttp(at(url, path)).post({ jsonrpc: "2.0", id: 1, method: "ping" }, headers)).status;
    for (const path of ["/mcp/p/pair", "/mcp/p/nothing", "/mcp/s/db", "/mcp/s/nothing"]) {
      expect(await status(path, bearer("ci"))).toBe(404);
      expect(await status(path, {})).toBe(401);
    }
  });
});

describe("a reload", () => {
  test("tells exactly those whose lists changed, and ends what has no endpoint any more", async () => {
    const { gateway, url, config } = await start();
    const apply = async (next: Record<string, unknown>): Promise<void> => {
      const text = JSON.stringify({ ...config, gateway: { port: 0 }, ...next });
      await gateway.reload(parseConfig(text, { file: "test.json", env: process.env }).config).done;
      await gateway.catalog.caughtUp();
    };
    const [whole, research, pair] = await Promise.all(
      ["/mcp", "/mcp/p/research", "/mcp/p/pair"].map(async (path) => {
        const connected = await connectV1({ url: at(url, path) });
        await connected.client.listTools();
        return connected;
      }),
    );
    const told = (one: typeof whole) => one!.notifications.map(({ method }) => method);
    await apply({ profiles: { ...profiles, research: { servers: ["web"] } } });
    await until(() => told(research).length === 2);
    expect(told(research).sort()).toEqual(["notifications/prompts/list_changed", "notifications/tools/list_changed"]);
    expect(names((await research!.client.listTools()).tools)).toContain("web_sleep");
    // What a server changes is told to those that see it.
    await whole!.client.callTool({ name: "db_set_prompts", arguments: { prompts: [] } });
    await until(() => told(whole).length === 1 && told(pair).length === 1);
    expect([told(whole), told(pair)]).toEqual([
      ["notifications/prompts/list_changed"],
      ["notifications/prompts/list_changed"],
    ]);
    expect(told(research)).toHaveLength(2);
    await apply({ profiles: { pair: profiles.pair } });
    await expect(research!.client.listTools()).rejects.toThrow();
    expect(names((await pair!.client.listTools()).tools)).toContain("web_add");
  });
});

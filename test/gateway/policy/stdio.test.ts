/**
 * Profiles and rules for a client that starts the gateway itself, `goblin stdio`: it has no token,
 * so rules about principals do not concern it, and all others do.
 */
import { afterEach, describe, expect, test } from "vitest";
import { connectV1, connectV2 } from "../../fixtures/clients.ts";
import { commandHome, PROGRAM } from "../../fixtures/command.ts";
import { disposeAll, startScripted, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const rules = [
  { id: "no-add", effect: "deny", tools: ["web/add"] },
  { effect: "deny", tools: ["web/echo"], when: "args.text == 'secret'", reason: "secrets stay here" },
  { effect: "allow", tools: ["web/route"], set: { region: "eu" } },
  { effect: "deny", prompts: ["greet"], who: { principals: ["ci"] } },
];

async function scene() {
  const home = commandHome();
  const [web, db] = await Promise.all([startScripted({ name: "web" }), startScripted({ name: "db" })]);
  const config = {
    mcpServers: { web: web.entry, db: db.entry },
    profiles: { small: { servers: ["web"], resources: { deny: ["blob:*"] } } },
    gateway: { auth: { clients: { ci: { token: "the-token-of-ci" } } } },
    metaTools: { enabled: ["search_tools", "call_tool"] },
    policy: { rules },
  };
  const file = home.write("goblin.json", JSON.stringify(config));
  const env = Object.fromEntries(Object.entries(home.env).filter((pair): pair is [string, string] => !!pair[1]));
  const target = (...more: string[]) => ({
    command: process.execPath,
    args: [PROGRAM, "stdio", "--config", file, ...more],
    env,
    cwd: home.folder,
  });
  return { home, web, db, config, file, target };
}

const eras = [
  { era: "v1", connect: connectV1 },
  { era: "v2, modern", connect: (to: Parameters<typeof connectV2>[0]) => connectV2({ ...to, era: "modern" }) },
];

describe.each(eras)("a client of SDK $era", ({ connect }) => {
  test("sees and uses what the rules leave", async () => {
    const { target, web } = await scene();
    const { client } = await connect(target());
    const listed = (await client.listTools()).tools;
    const names = listed.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["web_echo", "db_add"]));
    expect(names).not.toContain("web_add");
    expect(JSON.stringify(listed.find(({ name }) => name === "web_route"))).not.toContain("region");
    // A rule about a token's holder does not concern a client without one.
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain("web_greet");
    const problem = async (name: string, args: Record<string, unknown> = {}) =>
      client.callTool({ name, arguments: args }).then(
        () => undefined,
        (error: Error & { code: number }) => ({ code: error.code, message: error.message.replaceAll(name, "NAME") }),
      );
    const hidden = await problem("web_add", { a: 1, b: 2 });
    expect(hidden).toMatchObject({ code: -32602 });
    expect(hidden).toEqual(await problem("web_odd"));
    expect(await problem("web_echo", { text: "secret" })).toMatchObject({
      message: expect.stringContaining("secrets stay here"),
    });
    const found = await client.callTool({ name: "search_tools", arguments: { query: "add" } });
    expect(JSON.stringify(found)).toContain("db_add");
    expect(JSON.stringify(found)).not.toContain("web_add");
    await client.callTool({ name: "web_route", arguments: {} });
    const routed = (await web.received("tools/call")).map(({ message }) => message.params);
    expect(routed).toEqual([expect.objectContaining({ name: "route", arguments: { region: "eu" } })]);
  });

  test("with a profile sees its part, less what rules hide, and starts no other server", async () => {
    const { target, db } = await scene();
    const { client } = await connect(target("--profile", "small"));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain("web_echo");
    expect(names).not.toContain("web_add");
    expect(names.filter((name) => name.startsWith("db_"))).toEqual([]);
    const uris = (await client.listResources()).resources.map(({ uri }) => uri);
    expect(uris).toContain("web+text:///hello");
    expect(uris.filter((uri) => uri.includes("blob:"))).toEqual([]);
    await expect(client.readResource({ uri: "web+blob:///pixel" })).rejects.toThrow("Resource not found");
    expect(await db.received("initialize")).toEqual([]);
  });
});

test("a changed rule applies to the open stream, and the client is told", async () => {
  const { home, target, config } = await scene();
  const { client, notifications } = await connectV1(target("--profile", "small"));
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  expect(await names()).not.toContain("web_add");
  home.write("goblin.json", JSON.stringify({ ...config, policy: { rules: rules.slice(1) } }));
  // The servers' own start may be announced as well, before the config is read again.
  await until(async () => (await names()).includes("web_add"));
  await until(() => notifications.some(({ method }) => method === "notifications/tools/list_changed"));
});

test("an unknown profile ends the command with those that there are", async () => {
  const { home, file } = await scene();
  const { code, err } = await home.goblin("stdio", "--config", file, "--profile", "smal");
  expect([code, err]).toEqual([2, expect.stringMatching(/smal.*small/s)]);
});

/**
 * A link in a result can be followed although it is in no list, by the account that received it and
 * by nobody else; URIs come back in the spelling that was asked for.
 */
import { afterEach, describe, expect, test } from "vitest";
import { SeenUris } from "../../../src/core/routing/seen-uris.ts";
import { finish } from "../../../src/lib/timing/slices.ts";
import { createResourceIndex } from "../../../src/upstream/catalog/resources/resource-index.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { connectV1, disposeAll, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

const LINK = "job://123/output";
const SUBSCRIBES = { method: "resources/subscribe", do: "result", result: {} };
const giving = (uri: string) => ({ name: "s_raw", arguments: { result: { content: [link(uri)] } } });
const link = (uri: string) => ({ type: "resource_link", uri, name: "output" });
const contents = (uri: string) => ({
  method: "resources/read",
  do: "result",
  result: { contents: [{ uri, text: "" }] },
});

async function start(script: Record<string, unknown> = {}, config: Record<string, unknown> = {}) {
  const s = await startScripted({ name: "s", script });
  const goblin = await startGoblin({ mcpServers: { s: s.entry }, ...config });
  return { s, goblin };
}

describe("a link that is in no list", () => {
  test("is read and subscribed to by a client with a session", async () => {
    const { s, goblin } = await start({ rules: [contents(LINK), SUBSCRIBES] });
    const { client, notifications } = await connectV1({ url: goblin.url });
    const before = await client.readResource({ uri: `s+${LINK}` }).catch((error) => error.message);
    expect(before).toContain("not found");
    const uri = `s+${LINK}`;
    expect((await client.callTool(giving(LINK))).content).toEqual([link(uri)]);
    expect((await client.readResource({ uri })).contents[0]?.uri).toBe(uri);
    await client.subscribeResource({ uri });
    await s.control("touch", { uri: LINK, force: true });
    await until(() => notifications.some(({ params }) => params?.["uri"] === `s+${LINK}`));
    expect((await s.received("resources/read")).at(-1)?.message.params.uri).toBe(LINK);
  });

  test("is read and listened to by a client without sessions", async () => {
    const { s, goblin } = await start({ rules: [contents(LINK), SUBSCRIBES] });
    const client = stateless(goblin.url);
    await client.call("tools/call", giving(LINK));
    const uri = `s+${LINK}`;
    expect((await client.call("resources/read", { uri })).message.result.contents[0].uri).toBe(uri);
    const stream = await client.stream("subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } });
    await stream.next((m) => m.method === "notifications/subscriptions/acknowledged");
    await s.control("touch", { uri: LINK, force: true });
    await stream.next((m) => m.params?.uri === uri);
  });

  test("is not found for another token", async () => {
    const gateway = { auth: { tokens: ["token-of-alice", "token-of-bob"] } };
    const { s, goblin } = await start({ rules: [contents(LINK)] }, { gateway });
    const [alice, bob] = gateway.auth.tokens.map((token) => stateless(goblin.url, { token }));
    await alice!.call("tools/call", giving(LINK));
    expect((await bob!.call("resources/read", { uri: `s+${LINK}` })).message.error.message).toContain("not found");
    expect(await s.received("resources/read")).toEqual([]);
    expect((await alice!.call("resources/read", { uri: `s+${LINK}` })).message.result).toBeDefined();
  });
});

describe("a link to the web that is in no list (C12)", () => {
  const WEB = "https://example.com/a?b=1#c";
  const embedded = (uri: string) => ({ type: "resource", resource: { uri, text: "x" } });
  const both = (server: string) => ({
    name: `${server}_raw`,
    arguments: { result: { content: [link(WEB), embedded("http://example.com/e")] } },
  });

  test.each(["prefixed", "flat", "raw"])("stays as it is and is read from its server, with uris %s", async (uris) => {
    const s = await startScripted({ name: "s", script: { rules: [contents(WEB)] } });
    const other = await startScripted({ name: "t" });
    const goblin = await startGoblin({ mcpServers: { t: other.entry, s: s.entry }, resources: { uris } });
    const { client } = await connectV1({ url: goblin.url });
    expect((await client.callTool(both("s"))).content).toEqual([link(WEB), embedded("http://example.com/e")]);
    expect((await client.readResource({ uri: WEB })).contents[0]?.uri).toBe(WEB);
    expect((await s.received("resources/read")).at(-1)?.message.params.uri).toBe(WEB);
    expect(await other.received("resources/read")).toEqual([]);
  });

  test("is still read by its form with the prefix, which comes back", async () => {
    const { goblin } = await start({ rules: [contents(WEB)] });
    const client = stateless(goblin.url);
    await client.call("tools/call", both("s"));
    const { message } = await client.call("resources/read", { uri: `s+${WEB}` });
    expect(message.result.contents[0].uri).toBe(`s+${WEB}`);
  });

  test("is read from the server that named it, though another one lists the same URI later", async () => {
    const s = await startScripted({ name: "s", script: { rules: [contents(WEB)] } });
    const thief = await startScripted({ name: "thief", script: { rules: [contents(WEB)] } });
    const goblin = await startGoblin({ mcpServers: { thief: thief.entry, s: s.entry } });
    const { client } = await connectV1({ url: goblin.url });
    await client.callTool(both("s"));
    thief.setScript({ rules: [contents(WEB)], lists: { resources: [{ uri: WEB, name: "mine" }] } });
    await goblin.gateway.servers.roster.get("thief")?.backend.restart();
    await until(async () => (await client.listResources()).resources.some(({ uri }) => uri === `thief+${WEB}`));
    await client.readResource({ uri: WEB });
    expect(await thief.received("resources/read")).toEqual([]);
    expect(await s.received("resources/read")).toHaveLength(1);
    expect((await client.callTool(both("s"))).content).toEqual([link(`s+${WEB}`), embedded("http://example.com/e")]);
  });

  test("of a server that lists it has the prefix", async () => {
    const { goblin } = await start({ lists: { resources: [{ uri: WEB, name: "w" }] } });
    const { client } = await connectV1({ url: goblin.url });
    expect((await client.callTool(giving(WEB))).content).toEqual([link(`s+${WEB}`)]);
  });
});

describe("spelling", () => {
  const odd = ["FILE:///Upper", "file:///a/../b", "db://user:@host/x"];

  test("the normal forms that common clients write are accepted, and come back as they were asked for", async () => {
    const lists = { resources: odd.map((uri) => ({ uri, name: uri })) };
    const { s, goblin } = await start({ lists, rules: odd.map((uri) => ({ ...contents(uri), name: uri })) });
    const client = rawHttp(goblin.url);
    await client.initialize();
    for (const [i, asked] of ["s+file:///Upper", "s+file:///b", "s+db://user@host/x"].entries()) {
      const { message } = await client.call("resources/read", { uri: asked });
      expect(message.result.contents[0].uri).toBe(asked);
      expect((await s.received("resources/read")).at(-1)?.message.params.uri).toBe(odd[i]);
    }
  });

  test("also of links that are in no list", async () => {
    const { s, goblin } = await start({ rules: odd.map((uri) => ({ ...contents(uri), name: uri })) });
    const client = stateless(goblin.url);
    for (const uri of odd) await client.call("tools/call", giving(uri));
    for (const [i, asked] of ["s+file:///Upper", "s+file:///b", "s+db://user@host/x"].entries()) {
      await client.call("resources/read", { uri: asked });
      expect((await s.received("resources/read")).at(-1)?.message.params.uri).toBe(odd[i]);
    }
  });

  test("a template without a scheme: the contents have the URI that was asked for", async () => {
    const lists = { resourceTemplates: [{ uriTemplate: "/search/{id}", name: "search" }] };
    const { goblin } = await start({ lists, rules: [contents("/search/1")] });
    const { message } = await stateless(goblin.url).call("resources/read", { uri: "s+raw:/search/1" });
    expect(message.result.contents[0].uri).toBe("s+raw:/search/1");
  });

  test("{path*} matches slashes, {path} does not", async () => {
    const lists = {
      resourceTemplates: [
        { uriTemplate: "repo://{owner}/{path*}{?ref}", name: "file" },
        { uriTemplate: "one://{owner}/{path}", name: "one" },
      ],
    };
    const { s, goblin } = await start({ lists, rules: [contents("repo://me/a/b/c.txt?ref=main")] });
    const client = stateless(goblin.url);
    const uri = "s+repo://me/a/b/c.txt?ref=main";
    expect((await client.call("resources/read", { uri })).message.result.contents[0].uri).toBe(uri);
    expect((await client.call("resources/read", { uri: "s+one://me/a/b" })).message.error).toBeDefined();
    expect(await s.received("resources/read")).toHaveLength(1);
  });
});

describe("what is remembered", () => {
  const at = (serverId: string, account = "a") => ({ serverId, account });

  test("is bounded for an account at a server, the least recently named goes first", () => {
    const seen = new SeenUris();
    seen.add("x:first", at("s"));
    for (let i = 0; i < 999; i++) seen.add(`x:${i}`, at("s"));
    seen.add("x:first", at("s"));
    seen.add("x:more", at("s"));
    expect([seen.find("x:first", at("s")), seen.find("x:0", at("s"))]).toEqual(["x:first", undefined]);
    seen.add(`x:${"y".repeat(9000)}`, at("s"));
    expect(seen.find(`x:${"y".repeat(9000)}`, at("s"))).toBeUndefined();
  });

  test("a raw URI of two servers is nobody's", () => {
    const servers = ["s", "t"].map((id) => ({ id, resources: [], templates: [] }));
    const index = finish(createResourceIndex({ servers, mode: "raw" }));
    const seen = new SeenUris();
    seen.add("x:1", at("s"));
    expect(seen.named("x:1", "a", index)).toEqual({ serverId: "s", uri: "x:1" });
    expect(seen.named("x:1", "b", index)).toBeUndefined();
    seen.add("x:1", at("t"));
    expect(seen.named("x:1", "a", index)).toBeUndefined();
    expect(seen.named("t+x:1", "a", index)).toEqual({ serverId: "t", uri: "x:1" });
  });
});

/**
 * Resources beyond their names: contents byte for byte, identifiers in results, pages and caches,
 * what comes and goes, what does not parse.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { disposeAll, until } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";
import { asked, requestsOf, startListener, startRig } from "./rig.ts";

afterEach(disposeAll);

const modes = ["prefixed", "flat", "raw"] as const;
const resources = (...uris: string[]) => uris.map((uri) => ({ uri, name: uri }));

describe("reading", () => {
  test("text, blob and everything else arrive byte for byte, but for the URI", async () => {
    const contents = (uri: string) =>
      `{ "_meta":{"n":9007199254740993}, "contents":[{"uri" : "${uri}","mimeType":"text/x-odd; charset=\\"\\u0055TF-8\\"",` +
      '"text":"a\\u0000\\ud83d\\ude00\\u2028\\r\\n\\/file:///doc \\"uri\\":\\"file:///doc\\"","x":-0,"y":1.0},' +
      `{"uri":"file:///doc#part","blob":"AAEC/w==","mimeType":"application/octet-stream"},{"uri":"other:///x","text":""}] }`;
    const lists = { resources: resources("file:///doc", "file:///doc#part") };
    const rules = [{ method: "resources/read", do: "result", text: contents("file:///doc") }];
    const { client } = await startRig({ s: { script: { lists, rules } } });
    const { text } = await client.call("resources/read", { uri: "s_file___doc" }, 77);
    const wanted = contents("s+file:///doc")
      .replace('"file:///doc#part"', '"s+file:///doc#part"')
      .replace('"other:///x"', '"s+other:///x"');
    expect(text).toBe(`{"jsonrpc":"2.0","id":77,"result":${wanted}}`);
  });

  test("the server's error is the server's: code, message, data, and who it was", async () => {
    const data = { uri: "file:///doc", why: null };
    const rules = [{ method: "resources/read", do: "error", code: -32002, message: "not today", data }];
    const { client } = await startRig({ s: { script: { lists: { resources: resources("file:///doc") }, rules } } });
    expect(await asked(client, "resources/read", { uri: "file:///doc" })).toEqual({
      code: -32002,
      message: "not today",
      data: { ...data, serverId: "s" },
    });
  });

  test("to a client without a session, an unknown URI is an invalid parameter, no matter which side says so", async () => {
    const rules = [{ method: "resources/read", do: "error", code: -32002, message: "gone", data: { uri: "a:///b" } }];
    const { goblin } = await startRig({ s: { script: { lists: { resources: resources("a:///b") }, rules } } });
    const client = stateless(goblin.url);
    const refused = async (uri: string) => (await client.call("resources/read", { uri })).message.error;
    expect(await refused("s+a:///none")).toMatchObject({
      code: -32602,
      message: "Resource not found: s+a:///none",
      data: { code: "RESOURCE_NOT_FOUND", uri: "s+a:///none" },
    });
    expect(await refused("s_a___b")).toEqual({ code: -32602, message: "gone", data: { uri: "a:///b", serverId: "s" } });
  });

  test("no answer in time: TIMEOUT, and the server is told", async () => {
    const script = { lists: { resources: resources("a:///b") }, rules: [{ method: "resources/read", do: "hang" }] };
    const { client, servers } = await startRig({ s: { script, entry: { timeoutMs: 150 } } });
    expect(await asked(client, "resources/read", { uri: "a:///b" })).toMatchObject({
      code: -32001,
      data: { code: "TIMEOUT", serverId: "s" },
    });
    await servers["s"]!.waitFor((record) => record.event === "cancelled");
  });
});

describe.each(modes)("identifiers in results, %s", (uris) => {
  const named = {
    prefixed: { hello: "s+text:///hello", item: "s+item://book/9", found: "s+query://search?limit=2&q=a%20b" },
    flat: { hello: "s_text___hello", item: "s_item://book/9", found: "s_query://search?limit=2&q=a%20b" },
    raw: { hello: "text:///hello", item: "item://book/9", found: "query://search?limit=2&q=a%20b" },
  }[uris];
  // In no list and under no template.
  const strange = "nobody:///knows";
  const linked = { prefixed: `s+${strange}`, flat: `s_${strange}`, raw: strange }[uris];

  test("what a client reads in an answer it can read, subscribe to and complete", async () => {
    const { goblin, servers } = await startRig({ s: {} }, { resources: { uris } });
    const { client, updates } = await startListener(goblin);
    const own = ["text:///hello", "item://book/9", "query://search?limit=2&q=a%20b", strange, "ui://app/main"];
    const blocks = own.flatMap((uri) => [
      { type: "resource_link", uri, name: uri },
      { type: "resource", resource: { uri, text: uri } },
    ]);
    const result = {
      content: [...blocks, { type: "text", text: '"uri":"text:///hello"' }],
      structuredContent: { uri: own[0] },
    };
    const answer = await asked(client, "tools/call", { name: "s_raw", arguments: { result } });
    const shown = [named.hello, named.item, named.found, linked, "ui://app/main"];
    expect(answer).toEqual({
      content: [
        ...shown.flatMap((uri, i) => [
          { type: "resource_link", uri, name: own[i] },
          { type: "resource", resource: { uri, text: own[i] } },
        ]),
        { type: "text", text: '"uri":"text:///hello"' },
      ],
      structuredContent: { uri: "text:///hello" },
    });
    // The server decides what its links lead to.
    await asked(client, "resources/read", { uri: linked });
    expect((await servers["s"]!.received("resources/read"))[0]?.message.params.uri).toBe(strange);
    for (const [i, uri] of shown.slice(0, 3).entries()) {
      const read = await asked(client, "resources/read", { uri });
      expect(read.contents[0].uri).toBe(uri);
      expect(await asked(client, "resources/subscribe", { uri })).toEqual({});
      await servers["s"]!.control("touch", { uri: own[i] });
      await until(() => updates().length === i + 1);
    }
    expect(updates()).toEqual(shown.slice(0, 3));
    for (const uri of [named.item, `s+item://{kind}/{id}`]) {
      const completed = await asked(client, "completion/complete", {
        ref: { type: "ref/resource", uri },
        argument: { name: "kind", value: "b" },
      });
      if (uri.includes("{")) expect(completed.completion.values).toEqual(["book"]);
      else expect(completed).toMatchObject({ data: { serverId: "s" } });
    }
  });
});

describe("the list", () => {
  test("is paged by the URI shown, kept, and takes no cursor from elsewhere", async () => {
    const { client, servers } = await startRig(
      { b: { script: { lists: { resources: resources("x:///2", "x:///1", "x:///3") } }, pageSize: 1 }, a: {} },
      { lists: { pageSize: 3 } },
    );
    const uris: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await asked(client, "resources/list", cursor === undefined ? {} : { cursor });
      uris.push(page.resources.map(({ uri }: { uri: string }) => uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(uris).toEqual([
      ["a+ask:///elicitation", "a+blob:///pixel", "a+file:///logs/app.log"],
      ["a+text:///hello", "b+x:///1", "b+x:///2"],
      ["b+x:///3"],
    ]);
    const templates = await asked(client, "resources/templates/list", {});
    await asked(client, "resources/templates/list", {});
    expect(templates.resourceTemplates.map((t: { uriTemplate: string }) => t.uriTemplate).slice(0, 2)).toEqual([
      "a+item://{kind}/{id}",
      "a+query://search{?q,limit}",
    ]);
    // However often it is listed, each server was asked once for each page.
    expect((await servers["b"]!.received("resources/list")).map(({ message }) => message.params.cursor)).toEqual([
      undefined,
      "after:1",
      "after:2",
    ]);
    expect(await servers["a"]!.received("resources/list")).toHaveLength(1);
    expect(await servers["a"]!.received("resources/templates/list")).toHaveLength(1);
    for (const method of ["resources/list", "resources/templates/list"]) {
      for (const bad of ["after:1", "", "x".repeat(10_000), 1, {}]) {
        expect(await asked(client, method, { cursor: bad })).toMatchObject({ code: -32602 });
      }
    }
  });

  test("loses what is gone and gains what is new; one notification each, and only for resources", async () => {
    const { goblin, servers } = await startRig({
      s: { script: { lists: { resources: resources("a:///old", "a:///kept"), resourceTemplates: [] } } },
      other: {},
    });
    const { client, heard } = await startListener(goblin);
    const own = async () => {
      const { resources: all } = await asked(client, "resources/list", {});
      return all.map(({ uri }: { uri: string }) => uri).filter((uri: string) => uri.startsWith("s+"));
    };
    expect(await own()).toEqual(["s+a:///kept", "s+a:///old"]);
    const templates = [{ uriTemplate: "new://{x}", name: "new" }];
    const change = { resources: resources("a:///new", "a:///kept"), templates, keep: false };
    await servers["s"]!.control("set_resources", change);
    await until(() => heard().length > 0);
    expect(await own()).toEqual(["s+a:///kept", "s+a:///new"]);
    expect(await asked(client, "resources/read", { uri: "s+a:///old" })).toMatchObject({
      code: -32002,
      message: "Resource not found: s+a:///old",
    });
    // Templates alone are a change of the same list; the same list again is no change.
    await servers["s"]!.control("set_resources", {
      ...change,
      templates: [...templates, { uriTemplate: "b://{y}", name: "b" }],
    });
    await until(() => heard().length > 1);
    await servers["s"]!.control("set_resources", {
      ...change,
      templates: [...templates, { uriTemplate: "b://{y}", name: "b" }],
    });
    await until(async () => (await servers["s"]!.received("resources/list")).length === 4);
    await sleep(80);
    const changed = "notifications/resources/list_changed";
    expect(heard().map(({ method }) => method)).toEqual([changed, changed]);
    expect(await servers["other"]!.received("resources/list")).toHaveLength(1);
    expect(await servers["s"]!.received("prompts/list")).toHaveLength(1);
    await servers["s"]!.control("set_resources", { resources: [], templates: [], keep: false });
    await until(() => heard().length > 2);
    expect(await own()).toEqual([]);
  });

  test("in another form after a reload: one notification, and the names of before still work", async () => {
    const { goblin, servers } = await startRig({ s: {} }, { metaTools: {} });
    const { client, heard, updates } = await startListener(goblin);
    expect(await asked(client, "resources/subscribe", { uri: "s+text:///hello" })).toEqual({});
    const text = JSON.stringify({ mcpServers: { s: servers["s"]!.entry }, resources: { uris: "flat" } });
    await goblin.gateway.reload(parseConfig(text, { file: "test.json", env: {} }).config).done;
    await until(() => heard("notifications/resources/list_changed").length > 0);
    const { contents } = await asked(client, "resources/read", { uri: "s+text:///hello" });
    expect(contents[0].uri).toBe("s_text___hello");
    await servers["s"]!.control("touch", { uri: "text:///hello" });
    await until(() => updates().length > 0);
    expect(updates()).toEqual(["s+text:///hello"]);
    expect(heard().map(({ method }) => method)).toEqual([
      "notifications/resources/list_changed",
      "notifications/resources/updated",
    ]);
    expect(await servers["s"]!.events("start")).toHaveLength(1);
  });

  test("a server without the capability is not asked, and one without templates has none", async () => {
    const noTemplates = { rules: [{ method: "resources/templates/list", do: "error", code: -32601, message: "no" }] };
    const { client, goblin, servers } = await startRig({
      none: { script: { capabilities: { resources: null } } },
      bare: { script: noTemplates },
    });
    expect((await asked(client, "resources/templates/list", {})).resourceTemplates).toEqual([]);
    expect((await asked(client, "resources/list", {})).resources).toHaveLength(4);
    expect(await servers["none"]!.received("resources/list")).toEqual([]);
    expect(goblin.gateway.servers.status("bare")?.state).toBe("ready");
  });
});

test("a template that does not parse: one warning names it, and everything else works", async () => {
  const broken = "broken://{kind/{id";
  const resourceTemplates = [
    { uriTemplate: broken, name: "broken" },
    { uriTemplate: "item://{kind}/{id}", name: "item" },
  ];
  const script = { lists: { resources: resources("a:///b"), resourceTemplates } };
  const { client, goblin, servers } = await startRig({ s: { script }, other: {} });
  const warnings = () => goblin.logs.filter(({ level, msg }) => level === "warn" && msg.includes("template"));
  expect((await asked(client, "resources/read", { uri: "s+item://book/1" })).contents[0].uri).toBe("s+item://book/1");
  expect((await asked(client, "resources/read", { uri: "s+a:///b" })).contents[0].uri).toBe("s+a:///b");
  const { resourceTemplates: listed } = await asked(client, "resources/templates/list", {});
  expect(listed.map(({ name }: { name: string }) => name)).toContain("broken");
  const heard = await requestsOf(servers["s"]!);
  expect(await asked(client, "resources/read", { uri: `s+${broken}` })).toMatchObject({ code: -32002 });
  expect(await requestsOf(servers["s"]!)).toEqual(heard);
  // Other changes are no reason to say it again.
  await servers["other"]!.control("set_resources", { resources: resources("n:///1") });
  await servers["s"]!.control("set_prompts", { prompts: [{ name: "fresh" }] });
  await until(async () => JSON.stringify(await asked(client, "prompts/list", {})).includes("s_fresh"));
  await until(async () => JSON.stringify(await asked(client, "resources/list", {})).includes("n:///1"));
  expect(warnings()).toHaveLength(1);
  expect(warnings()[0]).toMatchObject({ server: "s", extra: { template: broken } });
});

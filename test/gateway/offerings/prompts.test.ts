/**
 * Prompts: one list of all servers' prompts, got by their names, refused by the table of codes. The
 * servers' logs say what they heard.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { connectV1, connectV2, disposeAll, type Recorded, until } from "../../fixtures/peers.ts";
import { asked, requestsOf, startRig } from "./rig.ts";

afterEach(disposeAll);

const prompts = (...entries: object[]) => ({ script: { lists: { prompts: entries } } });

describe("the list", () => {
  test("has every prompt of every page of every server, sorted, with every field it came with", async () => {
    const review = {
      name: "codeReview",
      title: "Review",
      description: "Reviews code",
      arguments: [{ name: "code", description: "The code", required: true, "x-argument": [1] }],
      icons: [{ src: "data:image/png;base64,AA==", mimeType: "image/png", sizes: ["48x48"] }],
      _meta: { "vendor/key": { deep: null } },
      "x-unknown": { n: 1.5 },
    };
    const { client, servers } = await startRig({
      github: { ...prompts({ name: "prReview" }, { name: "b" }, { name: "a" }), pageSize: 1 },
      filesystem: prompts(review),
      none: { script: { capabilities: { prompts: null } } },
    });
    const result = await asked(client, "prompts/list", {});
    expect(result).toEqual({
      prompts: [
        { ...review, name: "filesystem_codeReview" },
        { name: "github_a" },
        { name: "github_b" },
        { name: "github_prReview" },
      ],
    });
    const cursors = (await servers["github"]!.received("prompts/list")).map(({ message }) => message.params.cursor);
    expect(cursors).toEqual([undefined, "after:1", "after:2"]);
    expect(await servers["none"]!.received("prompts/list")).toEqual([]);
    await asked(client, "prompts/list", {});
    expect(await servers["filesystem"]!.received("prompts/list")).toHaveLength(1);
  });

  test("pages, and takes no cursor from elsewhere", async () => {
    const { client } = await startRig(
      { s: prompts({ name: "a" }, { name: "b" }, { name: "c" }) },
      { lists: { pageSize: 2 } },
    );
    const first = await asked(client, "prompts/list", {});
    expect(first.prompts).toEqual([{ name: "s_a" }, { name: "s_b" }]);
    expect(await asked(client, "prompts/list", { cursor: first.nextCursor })).toEqual({ prompts: [{ name: "s_c" }] });
    for (const cursor of ["after:1", "", 7, null]) {
      expect(await asked(client, "prompts/list", { cursor })).toMatchObject({ code: -32602 });
    }
    expect(await asked(client, "resources/list", { cursor: first.nextCursor })).toMatchObject({ code: -32602 });
  });

  test("that changes is fetched anew, and each client hears of it once, and of no other list", async () => {
    const { goblin, servers } = await startRig({ s: prompts({ name: "old" }), other: {} });
    const clients = [
      await connectV1({ url: goblin.url }),
      await connectV2({ url: goblin.url }),
      await connectV1({ sseUrl: goblin.sseUrl }),
    ];
    const changes = (notifications: Recorded[]) => notifications.map(({ method }) => method);
    const once = ["notifications/prompts/list_changed"];
    await servers["s"]!.control("set_prompts", { prompts: [{ name: "new", description: "v1" }], keep: false });
    for (const { client, notifications } of clients) {
      await until(() => notifications.length > 0);
      expect((await client.listPrompts()).prompts.filter(({ name }) => name.startsWith("s_"))).toEqual([
        { name: "s_new", description: "v1" },
      ]);
    }
    // The same list again is passed on at most once; another description is a change.
    await servers["s"]!.control("set_prompts", { prompts: [{ name: "new", description: "v1" }], keep: false });
    await until(async () => (await servers["s"]!.received("prompts/list")).length === 3);
    await sleep(60);
    const heard = clients.map(({ notifications }) => notifications.length);
    for (const count of heard) expect(count).toBeLessThanOrEqual(2);
    await servers["s"]!.control("set_prompts", { prompts: [{ name: "new", description: "v2" }], keep: false });
    for (const [i, { notifications }] of clients.entries()) await until(() => notifications.length > heard[i]!);
    await sleep(60);
    for (const { notifications } of clients) {
      expect(notifications.length).toBeLessThanOrEqual(3);
      expect(new Set(changes(notifications))).toEqual(new Set(once));
    }
    expect(await servers["s"]!.received("tools/list")).toHaveLength(1);
    expect(await servers["other"]!.received("prompts/list")).toHaveLength(1);
  });
});

describe("getting", () => {
  test("by the namespaced name, or by an original one that only one server has", async () => {
    const { client, servers } = await startRig({
      a: prompts({ name: "mine" }, { name: "both" }),
      b: prompts({ name: "both" }, { name: "a_mine" }),
    });
    const got = async (name: string) => {
      const result = await asked(client, "prompts/get", { name, arguments: { x: "1" } });
      return result.messages ? JSON.parse(result.messages[0].content.text) : result;
    };
    expect(await got("a_mine")).toEqual({ name: "mine", args: { x: "1" } });
    expect(await got("mine")).toEqual({ name: "mine", args: { x: "1" } });
    expect(await got("b_a_mine")).toEqual({ name: "a_mine", args: { x: "1" } });
    expect(await got("b_both")).toEqual({ name: "both", args: { x: "1" } });
    const heard = await requestsOf(servers["a"]!);
    expect(await got("both")).toEqual({
      code: -32602,
      message: "Prompt not found: both is ambiguous (a_both, b_both)",
      data: { code: "PROMPT-001", candidates: ["a_both", "b_both"], requestId: expect.any(String) },
    });
    expect(await requestsOf(servers["a"]!)).toEqual(heard);
  });

  test("every kind of content arrives as it was, and a resource in it can be read", async () => {
    const { client } = await startRig({ s: {} });
    const { messages, ...rest } = await asked(client, "prompts/get", { name: "s_rich" });
    expect(rest).toEqual({ description: "Rich", "x-result": [1, 2], _meta: { "fixture/rich": true } });
    const uri = "s+text:///hello";
    const pixel = expect.stringMatching(/^iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB.*ggg==$/);
    const wave = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
    expect(messages).toEqual(
      [
        { type: "text", text: "Text", annotations: { priority: 1 }, "x-block": 1 },
        { type: "image", data: pixel, mimeType: "image/png" },
        { type: "audio", data: wave, mimeType: "audio/wav" },
        { type: "resource", resource: { uri, mimeType: "text/plain", text: "hello" } },
        { type: "resource_link", uri, name: "hello", "x-link": null },
      ].map((content) => ({ role: "user", content, "x-message": true })),
    );
    expect((await asked(client, "resources/read", { uri })).contents[0].text).toBe("hello 0");
  });
});

describe("errors", () => {
  const needy = {
    name: "needy",
    arguments: [{ name: "a", required: true }, { name: "b", required: true }, { name: "c" }],
  };

  test("PROMPT-001: nobody has it, and nobody hears of it", async () => {
    const { client, servers } = await startRig({ s: prompts({ name: "p" }) });
    for (const name of ["s_q", "q", "S_p", "s", "_p", "", "constructor", `s_${"x".repeat(100_000)}`]) {
      const error = await asked(client, "prompts/get", { name });
      expect(error).toMatchObject({ code: -32602, data: { code: "PROMPT-001" } });
      expect(error.message).toMatch(new RegExp(`^Prompt not found: ${name.slice(0, 100)}`));
      expect(error.message.length).toBeLessThan(300);
    }
    for (const params of [{}, { name: 5 }, { name: null }]) {
      expect(await asked(client, "prompts/get", params)).toMatchObject({
        code: -32602,
        data: { code: "INVALID_PARAMS" },
      });
    }
    expect(await requestsOf(servers["s"]!)).toEqual([]);
  });

  test("PROMPT-002: each required argument that is missing is named, and the server is not called", async () => {
    const { client, servers } = await startRig({ s: prompts(needy) });
    const cases: [unknown, string[]][] = [
      [undefined, ["a", "b"]],
      [{ c: "1" }, ["a", "b"]],
      [{ a: "", c: "1" }, ["b"]],
      [{ a: null, b: "1" }, ["a"]],
      ["text", ["a", "b"]],
      [JSON.parse('{"__proto__":{"a":"1"},"b":"2"}'), ["a"]],
    ];
    for (const [given, missing] of cases) {
      expect(await asked(client, "prompts/get", { name: "s_needy", arguments: given })).toEqual({
        code: -32602,
        message: `Prompt s_needy needs ${missing.map((name) => `"${name}"`).join(", ")}`,
        data: { code: "PROMPT-002", missing, serverId: "s", requestId: expect.any(String) },
      });
    }
    expect(await requestsOf(servers["s"]!)).toEqual([]);
    await asked(client, "prompts/get", { name: "needy", arguments: { a: "", b: "2" } });
    const [heard] = await servers["s"]!.received("prompts/get");
    expect(heard!.message.params).toEqual({ name: "needy", arguments: { a: "", b: "2" } });
  });

  test("PROMPT-003 is the server's own error, PROMPT-005 says that it has no such method", async () => {
    const rules = [
      { name: "bad", do: "error", code: -32099, message: "no luck", data: { why: [1], code: "theirs" } },
      { name: "plain", do: "error", code: 17, message: "plain" },
      { name: "none", do: "error", code: -32601, message: "Method not found" },
    ].map((rule) => ({ method: "prompts/get", ...rule }));
    const lists = { prompts: [{ name: "bad" }, { name: "plain" }, { name: "none" }] };
    const { client } = await startRig({ s: { script: { lists, rules } } });
    const got = (name: string) => asked(client, "prompts/get", { name });
    expect(await got("s_bad")).toEqual({
      code: -32099,
      message: "no luck",
      data: { why: [1], code: "theirs", serverId: "s" },
    });
    expect(await got("s_plain")).toEqual({ code: 17, message: "plain", data: { code: "PROMPT-003", serverId: "s" } });
    expect(await got("s_none")).toEqual({
      code: -32601,
      message: "Method not found",
      data: { code: "PROMPT-005", serverId: "s" },
    });
  });

  test("PROMPT-004: no answer in time, and the server is told", async () => {
    const rules = [{ method: "prompts/get", name: "slow", do: "hang" }];
    const script = { lists: { prompts: [{ name: "slow" }] }, rules };
    const { client, servers } = await startRig({ s: { script, entry: { timeoutMs: 150 } } });
    expect(await asked(client, "prompts/get", { name: "s_slow" })).toMatchObject({
      code: -32001,
      message: expect.stringMatching(/^Timeout: s_slow of server "s" gave no answer within \d+ ms$/),
      data: { code: "PROMPT-004", serverId: "s", timeoutMs: 150 },
    });
    await servers["s"]!.waitFor((record) => record.event === "cancelled");
  });
});

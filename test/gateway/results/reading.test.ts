/** `read_result`: parts of a kept result, and only to whom it belongs. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";
import { type Given, idIn, rows, session, startScene, textResult } from "./scene.ts";

const spill = { results: { over: "spill", maxTokens: 300, preview: 50 } };

describe("a part", () => {
  let client: Awaited<ReturnType<typeof session>>;
  let json: string;
  let log: string;
  let blocks: string;

  beforeAll(async () => {
    const { goblin } = await startScene(spill);
    client = await session(goblin.url);
    const value = { total: 1, items: rows(200), "a b": { é: ["x"] }, note: "one\ntwo\nTHREE" };
    json = idIn(await client.returningText(`{"content":[],"structuredContent":${spaced(value)}}`));
    const lines = Array.from({ length: 1000 }, (_, i) => `line ${i}${i % 100 === 7 ? " ERROR" : ""}`);
    log = idIn(await client.returning(textResult(lines.join("\r\n"))));
    const texts = ["first", "second ".repeat(1000)].map((text) => ({ type: "text", text }));
    blocks = idIn(await client.returning({ content: texts }));
  });
  afterAll(disposeAll);

  /** With spaces, and a number that JavaScript cannot hold. */
  const spaced = (value: unknown): string =>
    JSON.stringify(value, null, 2).replace('"total": 1', '"total": 12345678901234567890');
  const part = async (id: string, more: object): Promise<string> => {
    const message = await client.call("tools/call", { name: "read_result", arguments: { id, ...more } });
    return message.result?.content[0].text ?? message.error.message;
  };

  test.each([
    [{ path: "total" }, "12345678901234567890"],
    [{ path: "$.items[3]" }, '{"id":3,"title":"Issue number 3","labels":["bug","urgent"]}'],
    [{ path: "items[3].labels[1]" }, '"urgent"'],
    [{ path: '"a b".é' }, '["x"]'],
    [{ path: "note", from: 1, count: 1 }, 'two\n(3 lines; go on with "from": 2)'],
    [
      { path: "items", from: 198 },
      '[198] {"id":198,"title":"Issue number 198","labels":["bug","urgent"]}\n[199] {"id":199,"title":"Issue number 199","labels":["bug","urgent"]}\n(200 elements, to the end)',
    ],
    [
      { path: "items", grep: "NUMBER 77" },
      '[77] {"id":77,"title":"Issue number 77","labels":["bug","urgent"]}\n(200 elements, to the end)',
    ],
    [{ path: "items", grep: "nowhere" }, "(nothing: 200 elements, none with this text)\n(200 elements, to the end)"],
    [{ path: "items", from: 1000 }, "(nothing: 200 elements)\n(200 elements, to the end)"],
    [{ grep: "three" }, '"note": "one\\ntwo\\nTHREE"\n(4 members, to the end)'],
    [{ path: "items[200]" }, "read_result: the result has nothing at the path items[200]"],
    [{ path: "items.id" }, "read_result: the result has nothing at the path items.id"],
    [{ path: "__proto__" }, "read_result: the result has nothing at the path __proto__"],
    [{ path: "items[" }, 'read_result got a wrong "path": write it like items[3].title'],
    [{ path: 7 }, 'read_result got a wrong "path": Invalid input: expected string, received number'],
    [{ from: -1 }, 'read_result got a wrong "from": Too small: expected number to be >=0'],
    [{ line: 1 }, 'read_result does not take "line" (it takes "id", "path", "from", "count", "grep")'],
  ])("of JSON: %j", async (wanted, expected) => {
    expect(await part(json, wanted)).toBe(expected);
  });

  test("of a text: lines, with their numbers where some are left out", async () => {
    expect(await part(log, { from: 998 })).toBe("line 998\nline 999\n(1000 lines, to the end)");
    expect(await part(log, { grep: "error", count: 2 })).toBe(
      '[7] line 7 ERROR\n[107] line 107 ERROR\n(1000 lines; go on with "from": 207)',
    );
    expect(await part(log, { path: "a" })).toBe(
      'read_result: this result is text without a structure; leave "path" out',
    );
  });

  test("never has more than a result may have, and reading on gets everything", async () => {
    for (const id of [log, json, blocks]) {
      let from = 0;
      let all = "";
      for (let steps = 0; from !== -1; steps++) {
        const text = await part(id, { from });
        expect(text.length).toBeLessThan(300 * 8);
        expect(steps).toBeLessThan(200);
        all += text.slice(0, text.lastIndexOf("\n("));
        from = Number(/"from": (\d+)\)$/.exec(text)?.[1] ?? -1);
      }
      expect(all).toContain(id === log ? "line 999" : id === json ? "one\\ntwo" : "second second");
    }
  });

  test.each(["", "nope", "../../../etc/passwd", "goblin://result/", "A".repeat(22), "é".repeat(22), "%2e%2e%2f"])(
    "%j is not found, as any result that is not there",
    async (id) => {
      expect(await part(id, {})).toBe(`Result not found: ${id}. Call its tool again.`);
    },
  );
});

describe("only to whom it belongs", () => {
  afterEach(disposeAll);
  const tokens = ["alice-alice-alice", "bob-bob-bob-bob-bob"] as const;

  test("others are told what they are told of results that never were", async () => {
    const { goblin } = await startScene({ ...spill, gateway: { auth: { tokens } } });
    const alice = await session(goblin.url, tokens[0]);
    const bob = await session(goblin.url, tokens[1]);
    const id = idIn(await alice.returning(textResult("word ".repeat(5000))));
    const never = "A".repeat(22);
    const uri = (one: string): string => `goblin://result/${one}`;
    const modern = stateless(goblin.url, { token: tokens[1] });
    const asBob = [
      (one: string) => bob.client.call("resources/read", { uri: uri(one) }, 1),
      (one: string) => bob.client.call("tools/call", { name: "read_result", arguments: { id: one } }, 2),
      (one: string) => bob.client.call("resources/subscribe", { uri: uri(one) }, 3),
      (one: string) => modern.call("resources/read", { uri: uri(one) }, { id: 4 }),
      (one: string) => modern.call("tools/call", { name: "read_result", arguments: { id: one } }, { id: 5 }),
    ];
    const without = (text: string, one: string): string =>
      text.replaceAll(one, "ID").replace(/"requestId":"[^"]*"/g, "");
    for (const ask of asBob) {
      const [of, none] = [await ask(id), await ask(never)];
      expect(of.status).toBe(none.status);
      expect(of.message.error.message).toContain("not found");
      expect(without(of.text, id)).toBe(without(none.text, never));
    }
    // In another session, and without one, she has it.
    const again = await session(goblin.url, tokens[0]);
    expect((await again.read(uri(id))).result.contents[0].text).toBe("word ".repeat(5000));
    const own = await stateless(goblin.url, { token: tokens[0] }).call("resources/read", { uri: uri(id) });
    expect(own.message.result.contents[0].text).toBe("word ".repeat(5000));
  });

  test("a tool that a rule hides by now hides its results too", async () => {
    const web = await startScripted({ transport: "http" });
    const mcpServers = { web: web.entry };
    const goblin = await startGoblin({
      mcpServers,
      ...spill,
      metaTools: {},
      profiles: { few: { servers: ["*"], tools: { allow: ["echo", "big"] } } },
    });
    const all = await session(goblin.url);
    const few = await session(`${goblin.url}/p/few`);
    const id = idIn(await all.returning(textResult("word ".repeat(5000))));
    expect((await all.read(`goblin://result/${id}`)).result).toBeDefined();
    expect((await few.read(`goblin://result/${id}`)).error.message).toBe(`Resource not found: goblin://result/${id}`);
    expect((await few.call("tools/call", { name: "read_result", arguments: { id } })).error.message).toBe(
      `Result not found: ${id}. Call its tool again.`,
    );
  });

  test("an expired result is not there, and neither is one of an earlier process", async () => {
    const { goblin } = await startScene({ results: { ...spill.results, ttlMs: 1 } });
    const client = await session(goblin.url);
    const id = idIn(await client.returning(textResult("word ".repeat(5000))));
    expect((await client.read(`goblin://result/${id}`)).error.message).toBe(
      `Resource not found: goblin://result/${id}`,
    );
  });

  test("a server's own URI of that form is the server's", async () => {
    const { goblin } = await startScene(spill);
    const client = await session(goblin.url);
    const uri = `web+goblin://result/${"A".repeat(22)}`;
    const answer: Given = await client.returning({
      content: [{ type: "resource_link", uri: uri.slice(4), name: "x" }],
    });
    expect(answer.content[0].uri).toBe(uri);
    expect((await client.read(uri)).error.message).not.toContain("Result");
  });
});

/**
 * What is fetched of a server's lists, how often, and how much of it is kept, against a server that
 * is a function.
 */
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Pace } from "../../../../src/lib/timing/pace.ts";
import { emptyLists, type ServerLists } from "../../../../src/upstream/catalog/definitions.ts";
import { readPage } from "../../../../src/upstream/catalog/sync/read-page.ts";
import { Sync, type SyncOptions } from "../../../../src/upstream/catalog/sync/sync.ts";

afterEach(() => vi.useRealTimers());

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });

function open(pages: (method: string, cursor: string | undefined) => unknown, more: Partial<SyncOptions> = {}) {
  const asked: string[] = [];
  const reduced: (string | undefined)[] = [];
  const failed: string[] = [];
  const onLimit: string[] = [];
  let lists: ServerLists = emptyLists;
  const sync = new Sync({
    request: async (method, params) => {
      const { cursor } = JSON.parse(params) as { cursor?: string };
      asked.push(method);
      const page = pages(method, cursor);
      return { ok: true, raw: typeof page === "string" ? page : JSON.stringify(page) };
    },
    declares: (capability) => capability === "tools",
    update: (next) => {
      lists = next;
    },
    failed: (_, error) => void failed.push((error as Error).message),
    reduced: (method, why) => {
      if (method === "tools/list") reduced.push(why);
    },
    limits: () => ({ catalogBytes: 100_000, definitionBytes: 10_000 }),
    onLimit: (limit) => void onLimit.push(limit),
    known: emptyLists,
    ...more,
  });
  return { sync, asked, reduced, failed, onLimit, names: () => lists.tools.map(({ value }) => value["name"]) };
}

describe("what is kept", () => {
  test("an endless list is cut at the budget, and nothing more is asked for", async () => {
    let page = 0;
    const { sync, asked, names, reduced, onLimit } = open(() => ({
      tools: [tool(`t${page}`, { description: "x".repeat(5000) })],
      nextCursor: String(++page),
    }));
    await sync.all();
    // Each page takes about 6 100 of 100 000.
    expect(asked).toHaveLength(17);
    expect(names()).toHaveLength(16);
    expect(onLimit).toEqual(["catalogBytes"]);
    expect(reduced[0]).toContain("tools/list is cut after 16 entries (catalogBytes is 100000)");
  });

  test("small entries count for what is made of them", async () => {
    const tools = Array.from({ length: 2000 }, (_, i) => ({ name: String(i) }));
    const { sync, names } = open(() => ({ tools }));
    await sync.all();
    expect(names().length).toBeGreaterThan(50);
    expect(names().length).toBeLessThan(100);
  });

  test("what surrounds the entries of a page counts, too", async () => {
    let page = 0;
    const { sync, asked, names } = open(
      () => `{"tools":[${" ".repeat(30_000)}{"name":"${page}"}],"nextCursor":"${++page}"}`,
    );
    await sync.all();
    expect(names()).toEqual(["0", "1", "2"]);
    expect(asked).toHaveLength(4);
  });

  test("an entry that is too large, or too deep for readers, is left out with a word; the others are taken", async () => {
    const deep = `{"name":"deep","outputSchema":${'{"items":'.repeat(200)}{}${"}".repeat(200)}}`;
    const wide = JSON.stringify(tool("wide", { description: "x".repeat(20_000) }));
    const { sync, names, reduced, onLimit } = open(() => `{"tools":[${wide},{"name":"ok"},${deep}]}`);
    await sync.all();
    expect(names()).toEqual(["ok"]);
    expect(reduced).toEqual([
      '"wide" and 1 more left out: it is too large (definitionBytes is 10000); let the server shorten it',
    ]);
    expect(onLimit).toEqual(["definitionBytes"]);
  });

  test("a list that fits again is whole again", async () => {
    let count = 2000;
    const { sync, names, reduced } = open(() => ({
      tools: Array.from({ length: count }, (_, i) => ({ name: String(i) })),
    }));
    await sync.all();
    count = 20;
    await sync.changed("tools");
    expect(names()).toHaveLength(20);
    expect(reduced.map((why) => why === undefined)).toEqual([false, true]);
  });
});

describe("a page", () => {
  const value = fc.jsonValue({ maxDepth: 3 });

  test("gives the objects among its elements, as they were written", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(value), fc.constantFrom(0, 1, 2), async (values, indent) => {
        const text = JSON.stringify({ before: 1, tools: values, nextCursor: "c" }, null, indent);
        const { definitions, nextCursor } = await readPage(text, "tools", 10_000);
        const objects = values.filter((v) => typeof v === "object" && v !== null && !Array.isArray(v));
        expect(nextCursor).toBe("c");
        expect(definitions.map(({ value }) => JSON.stringify(value))).toEqual(objects.map((v) => JSON.stringify(v)));
        for (const { text, value } of definitions) expect(JSON.parse(text)).toEqual(value);
      }),
    );
  });

  test.each([
    '{"tools":[{}{}]}',
    '{"tools":[{},]}',
    '{"tools":[,{}]}',
    '{"tools":[{},,{}]}',
    '{"tools":[{"a":1 "b":2}]}',
    '{"tools":[{}]] }',
    '{"tools":[{}}]',
    '{"tools":[{}',
    '{"tools":{}}',
    '{"tools":[{}],}',
    '{"other":[]}',
    '{"tools":[{}],"tools":[]}',
    '{"tools":[{}],"\\u0074ools":[{}]}',
    '{"tools" [{}]}',
    '{"tools":[{}]} x',
    "[]",
    "null",
  ])("that is no list is refused: %s", async (text) => {
    await expect(readPage(text, "tools", 1000)).rejects.toThrow();
  });

  test("with megabytes besides its list is refused", async () => {
    const text = `{"tools":[],"junk":[${"[],".repeat(500_000)}0]}`;
    await expect(readPage(text, "tools", 1000)).rejects.toThrow(/besides its "tools"/);
  });
});

describe("announcements", () => {
  test("with every list: the first round makes the server ready, and the pauses grow", async () => {
    vi.useFakeTimers();
    let announce = (): void => {};
    const { sync, asked } = open(() => {
      announce();
      return { tools: [tool("one")] };
    });
    announce = () => void sync.changed("tools");
    await sync.all();
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(100_000);
    // 50 ms, 100, 200, … up to ten seconds.
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.length).toBeLessThan(25);
    sync.close();
    await vi.advanceTimersByTimeAsync(100_000);
    expect(asked.length).toBeLessThan(25);
  });

  test("many at once are one fetch; the last state of the server counts", async () => {
    vi.useFakeTimers();
    let state = 0;
    const { sync, asked, names } = open(() => ({ tools: [tool(`t${state}`)] }));
    await sync.all();
    for (state = 1; state <= 100; state++) void sync.changed("tools");
    state = 100;
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(2);
    expect(names()).toEqual(["t100"]);
  });

  test("with changes each time: the pauses stay short for a short list, and grow with a long one", async () => {
    vi.useFakeTimers();
    const rounds = async (entries: number): Promise<number> => {
      let state = 0;
      let announce = (): void => {};
      const { sync, asked } = open(
        () => {
          announce();
          state++;
          return { tools: Array.from({ length: entries }, (_, i) => tool(`t${i}`, { description: String(state) })) };
        },
        { limits: () => ({ catalogBytes: 20_000_000, definitionBytes: 10_000 }) },
      );
      announce = () => void sync.changed("tools");
      await sync.all();
      await vi.advanceTimersByTimeAsync(20_000);
      sync.close();
      return asked.length;
    };
    expect(await rounds(1)).toBeGreaterThan(80);
    expect(await rounds(10_000)).toBeLessThan(20);
  });

  test("after a while of quiet a change is fetched at once", async () => {
    let now = 0;
    const pace = new Pace(() => now);
    expect(pace.begin()).toBe(0);
    pace.ended();
    expect([pace.begin(), pace.begin(), pace.begin()]).toEqual([50, 100, 200]);
    now += 5000;
    expect(pace.begin()).toBe(0);
  });
});

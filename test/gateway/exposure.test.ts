import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { searches } from "../../src/core/meta/registry.ts";
import type { Viewer } from "../../src/mcp/protocol/principal.ts";
import { Catalog } from "../../src/upstream/catalog/catalog.ts";
import { type Definition, emptyLists } from "../../src/upstream/catalog/definitions.ts";
import { feedSearch } from "../../src/upstream/catalog/search/feed.ts";
import { createSearchIndex, type SearchIndex } from "../../src/upstream/catalog/search/search-index.ts";
import { VisibleIndexes } from "../../src/upstream/catalog/search/visible-indexes.ts";
import type { Snapshot, SnapshotSettings } from "../../src/upstream/catalog/snapshot.ts";
import { reportTokens } from "../../src/upstream/catalog/token-report.ts";

const everybody = { key: "", visibility: undefined };

const define = (value: Record<string, unknown>): Definition => ({ value, text: JSON.stringify(value) });
const tool = (name: string, description = "x") => define({ name, description, inputSchema: { type: "object" } });
const policy = { allow: ["*"], deny: [], overrides: {} };

const settings = (exposure: SnapshotSettings["exposure"]): SnapshotSettings => ({
  maxNameLength: 64,
  uris: "prefixed",
  pageSize: 1000,
  local: [define({ name: "search_tools" })],
  exposure,
});

function catalogOf(exposure: SnapshotSettings["exposure"], tools: Record<string, Definition[]>): Catalog {
  const catalog = new Catalog(settings(exposure));
  for (const [id, list] of Object.entries(tools)) {
    catalog.put({ id, prefix: `${id}_`, tools: policy });
    catalog.update(id, { ...emptyLists, tools: list });
  }
  return catalog;
}

const listed = (catalog: Catalog) => catalog.snapshot.pagers.tools.entries.map(({ exposed }) => exposed);
const all = { mode: "all", budgetTokens: 1 } as const;

test("auto compares the whole list, the gateway's own tools too, with the budget", () => {
  const tools = { a: [tool("one"), tool("two")] };
  const { tokens } = reportTokens(catalogOf(all, tools).snapshot).all;
  expect(tokens).toBeGreaterThan(20);
  expect(listed(catalogOf({ mode: "auto", budgetTokens: tokens + 1 }, tools))).toEqual([
    "a_one",
    "a_two",
    "search_tools",
  ]);
  expect(listed(catalogOf({ mode: "auto", budgetTokens: tokens }, tools))).toEqual(["search_tools"]);
});

test("auto counts only what would be listed", () => {
  const long = tool("long", "many words ".repeat(1000));
  const catalog = catalogOf({ mode: "auto", budgetTokens: 500 }, { a: [tool("one")], b: [long, tool("two")] });
  expect(listed(catalog)).toEqual(["search_tools"]);
  catalog.put({ id: "b", prefix: "b_", tools: policy, expose: { pinned: ["two"] } });
  expect(listed(catalog)).toEqual(["a_one", "b_two", "search_tools"]);
});

test("pinned takes the original name, the alias and the listed name", () => {
  const catalog = catalogOf({ mode: "search", budgetTokens: 1 }, { a: ["p", "q", "r", "s"].map((name) => tool(name)) });
  catalog.put({
    id: "a",
    prefix: "a_",
    tools: { ...policy, overrides: { q: { alias: "queue" } } },
    expose: { pinned: ["p", "queue", "a_r"] },
  });
  expect(listed(catalog)).toEqual(["a_p", "a_queue", "a_r", "search_tools"]);
  expect(catalog.snapshot.tools.find("a_s")?.name).toBe("s");
});

test("a change of mode is a change of the list; a change of hidden entries is not", async () => {
  const catalog = catalogOf(all, { a: [tool("one")] });
  void catalog.snapshot;
  const changes: string[] = [];
  catalog.watch({ key: "anyone", visibility: undefined }, (kinds) => changes.push(kinds.join()));
  catalog.configure(settings({ mode: "search", budgetTokens: 1 }));
  void catalog.snapshot;
  expect(changes).toEqual(["tools"]);
  catalog.update("a", { ...emptyLists, tools: [tool("other")] });
  void catalog.snapshot;
  expect(changes).toEqual(["tools"]);
});

test("the report: servers, lists, the heaviest first, names that model APIs refuse", () => {
  const catalog = catalogOf(
    { mode: "search", budgetTokens: 1 },
    { a: [tool("one"), tool("heavy", "many words ".repeat(20))], b: [tool("dotted.name"), tool("späti")] },
  );
  catalog.put({ id: "a", prefix: "a_", tools: policy, expose: { pinned: ["one"] } });
  const report = reportTokens(catalog.snapshot);
  const cost = new Map(report.tools.map(({ name, tokens }) => [name, tokens]));
  const [one, heavy] = [cost.get("a_one")!, cost.get("a_heavy")!];
  expect(report.tools[0]).toEqual({ name: "a_heavy", serverId: "a", tokens: heavy, listed: false });
  expect(report.servers[0]).toEqual({
    serverId: "a",
    tools: 2,
    tokens: one + heavy,
    listedTools: 1,
    listedTokens: one,
  });
  expect(report.servers[1]).toMatchObject({ serverId: "b", tools: 2, listedTools: 0, listedTokens: 0 });
  expect(report.mode).toBe("search");
  expect(report.own.tools).toBe(1);
  expect(report.all).toEqual({ tools: 5, tokens: report.own.tokens + [...cost.values()].reduce((a, b) => a + b) });
  expect(report.search).toEqual({ tools: 2, tokens: report.own.tokens + one });
  expect(report.listed).toEqual(report.search);
  expect(report.refusedNames).toEqual([
    { name: "b_dotted.name", serverId: "b" },
    { name: "b_späti", serverId: "b" },
  ]);
});

test("the index follows the catalog, and only for servers that changed", async () => {
  const catalog = catalogOf(all, { a: [tool("alpha")], b: [tool("beta")] });
  const index = createSearchIndex();
  const replaced: string[] = [];
  const spied = {
    ...index,
    replaceServer: (id: string, docs: Parameters<typeof index.replaceServer>[1]) => {
      replaced.push(id);
      index.replaceServer(id, docs);
    },
  };
  const search = feedSearch(catalog, spied);
  expect(await search.find("alpha", { kind: "tool", viewer: everybody })).toEqual(["a_alpha"]);
  expect(replaced).toEqual(["a", "b"]);
  catalog.update("b", { ...emptyLists, tools: [tool("gamma")], prompts: [define({ name: "gamma" })] });
  expect(await search.find("gamma", { kind: "tool", viewer: everybody })).toEqual(["b_gamma"]);
  expect(await search.find("gamma", { kind: "prompt", viewer: everybody })).toEqual(["b_gamma"]);
  expect(await search.find("beta", { kind: "tool", viewer: everybody })).toEqual([]);
  expect(replaced).toEqual(["a", "b", "b"]);
  catalog.remove("a");
  expect(await search.find("alpha", { kind: "tool", viewer: everybody })).toEqual([]);
  expect(replaced).toEqual(["a", "b", "b", "a"]);
  search.close();
});

describe("where no tool searches", () => {
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const without = { ...settings(all), localInAll: [define({ name: "read_result" })] };

  function unsearched() {
    const catalog = new Catalog(without);
    catalog.put({ id: "a", prefix: "a_", tools: policy });
    catalog.update("a", { ...emptyLists, tools: [tool("alpha")] });
    const index = createSearchIndex();
    const search = feedSearch(catalog, index, searches);
    return { catalog, index, search, [Symbol.dispose]: () => search.close() };
  }

  test("the index stays empty until somebody searches all the same", async () => {
    using one = unsearched();
    await turns(20);
    one.catalog.update("a", { ...emptyLists, tools: [tool("beta")] });
    await turns(20);
    expect(one.index.size).toBe(0);
    expect(await one.search.find("beta", { kind: "tool", viewer: everybody })).toEqual(["a_beta"]);
    one.catalog.update("a", { ...emptyLists, tools: [tool("beta"), tool("gamma")] });
    await turns(20);
    expect(one.index.size).toBe(2);
  });

  test("the index is filled when one begins to", async () => {
    using one = unsearched();
    await turns(20);
    expect(one.index.size).toBe(0);
    one.catalog.configure({ ...without, exposure: { mode: "search", budgetTokens: 1 } });
    await turns(20);
    expect(one.index.size).toBe(1);
  });
});

test("many new tools are taken in slice by slice", async () => {
  const many = Array.from({ length: 20_000 }, (_, n) => tool(`tool_${n}`, `Does thing number ${n} for somebody`));
  const catalog = catalogOf({ mode: "search", budgetTokens: 1 }, { a: many });
  void catalog.snapshot;
  const index = createSearchIndex();
  const pending: number[] = [];
  const spied: SearchIndex = {
    ...index,
    get pending() {
      return index.pending;
    },
    search: (...asked) => {
      pending.push(index.pending);
      return index.search(...asked);
    },
  };
  const search = feedSearch(catalog, spied);
  let turns = 0;
  let done = false;
  const found = search.find("tool_77", { kind: "tool", limit: 1, viewer: everybody }).finally(() => {
    done = true;
  });
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  expect(await found).toEqual(["a_tool_77"]);
  expect(turns).toBeGreaterThan(3);
  // Twenty thousand texts are not looked through one by one.
  expect(pending).toEqual([0]);
  search.close();
});

test("a server that never stops changing its list does not hold up a search", async () => {
  const catalog = catalogOf(all, { a: [tool("alpha")] });
  const search = feedSearch(catalog, createSearchIndex());
  let n = 0;
  const turn = async (): Promise<void> => {
    while (n < 1000) {
      catalog.update("a", { ...emptyLists, tools: [tool("alpha"), tool(`t${n++}`)] });
      void catalog.snapshot;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const flooding = turn();
  expect(await search.find("alpha", { kind: "tool", viewer: everybody })).toEqual(["a_alpha"]);
  expect(n).toBeLessThan(100);
  n = 1000;
  await flooding;
  search.close();
});

describe("what a client does not see", () => {
  const WORDS = ["create", "craete", "invoice", "note", "customer", "creat", "list", "delete", "merge", "all"];
  const showing = (key: string, isShown: (name: string) => boolean): Viewer => ({
    key: "",
    visibility: {
      key,
      profile: undefined,
      server: undefined,
      expose: undefined,
      showsServer: () => true,
      shows: ({ name }) => isShown(name),
    },
  });

  /** The index of a view, when nothing in it is scanned any more. */
  async function settled(view: Snapshot): Promise<SearchIndex> {
    const index = await new VisibleIndexes().of("k", view);
    await index.settled();
    return index;
  }

  test("does not change what it finds, nor in which order", async () => {
    const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));
    const catalogs = fc.tuple(fc.array(text, { maxLength: 6 }), fc.array(text, { maxLength: 30 }), text);
    await fc.assert(
      fc.asyncProperty(catalogs, async ([seen, hidden, query]) => {
        const own = seen.map((words, n) => tool(`seen_${n}`, words));
        const others = hidden.map((words, n) => tool(`hidden_${n}`, words));
        const viewer = showing("k", (name) => name.startsWith("seen_"));
        const some = await settled(catalogOf(all, { a: [...others, ...own] }).view(viewer));
        const only = await settled(catalogOf(all, { a: own }).snapshot);
        expect(some.search(query, { kind: "tool" })).toEqual(only.search(query, { kind: "tool" }));
      }),
      { numRuns: 200 },
    );
  });

  test("cannot be searched for: an argument that a rule hides", async () => {
    const properties = { tenant: { type: "string" }, title: { type: "string" } };
    const create = define({ name: "create", inputSchema: { type: "object", properties } });
    const search = feedSearch(catalogOf(all, { a: [create] }), createSearchIndex());
    const { visibility } = showing("k", () => true);
    const shape = (_entry: unknown, text: string): string => text.replace('"tenant":{"type":"string"},', "");
    const viewer = { key: "", visibility: { ...visibility!, shape } };
    expect(await search.find("tenant", { kind: "tool", viewer: everybody })).toEqual(["a_create"]);
    expect(await search.find("tenant", { kind: "tool", viewer })).toEqual([]);
    expect(await search.find("title", { kind: "tool", viewer })).toEqual(["a_create"]);
    search.close();
  });

  test("is followed when it changes", async () => {
    const catalog = catalogOf(all, { a: [tool("alpha"), tool("beta")] });
    const search = feedSearch(catalog, createSearchIndex());
    const viewer = showing("k", (name) => name !== "beta");
    const find = (query: string) => search.find(query, { kind: "tool", viewer });
    expect([await find("alpha"), await find("beta")]).toEqual([["a_alpha"], []]);
    catalog.update("a", { ...emptyLists, tools: [tool("beta"), tool("gamma")] });
    expect([await find("alpha"), await find("beta"), await find("gamma")]).toEqual([[], [], ["a_gamma"]]);
    expect(await search.find("beta", { kind: "tool", viewer: showing("other", () => true) })).toEqual(["a_beta"]);
    search.close();
  });

  test("has bounded indexes: the one used longest ago is made again", async () => {
    const catalog = catalogOf(all, { a: [tool("alpha"), tool("beta")] });
    const indexes = new VisibleIndexes();
    const view = catalog.snapshot;
    const first = await indexes.of("0", view);
    for (let n = 1; n < 100; n++) await indexes.of(String(n), view);
    expect(indexes.size).toBe(64);
    expect(await indexes.of("99", view)).toBe(await indexes.of("99", view));
    const again = await indexes.of("0", view);
    expect(again).not.toBe(first);
    expect(again.search("alpha", { kind: "tool" })).toHaveLength(1);
    indexes.close();
  });
});

/** Views of the catalog: who sees what, what is shared, and how much is kept. */
import { describe, expect, test } from "vitest";
import { Catalog } from "../../../../src/upstream/catalog/catalog.ts";
import { type Definition, emptyLists, type ServerLists } from "../../../../src/upstream/catalog/definitions.ts";

const settings = {
  maxNameLength: 64,
  uris: "prefixed",
  pageSize: 100,
  local: [],
  exposure: { mode: "all", pinned: [], autoThreshold: 1000 },
} as unknown as ConstructorParameters<typeof Catalog>[0];

const tool = (name: string): Definition => {
  const value = { name, inputSchema: { type: "object" } };
  return { value, text: JSON.stringify(value) };
};
const lists = (...names: string[]): ServerLists => ({ ...emptyLists, tools: names.map(tool) });

function catalogOf(servers: Record<string, ServerLists>): Catalog {
  const catalog = new Catalog(settings);
  for (const [id, own] of Object.entries(servers)) {
    catalog.put({ id, prefix: `${id}_`, tools: { allow: ["*"], deny: [], overrides: {} } });
    catalog.update(id, own);
  }
  return catalog;
}

const viewer = (key: string) => ({ key, visibility: undefined });

const namesIn = (catalog: Catalog, client: string): string[] =>
  catalog.view(viewer(client)).tools.entries.map(({ exposed }) => exposed);

describe("a client's view", () => {
  test("is the common snapshot without lists of its own, or with equal ones", () => {
    const catalog = catalogOf({ a: lists("x") });
    expect(catalog.view(viewer("ada"))).toBe(catalog.snapshot);
    catalog.own("ada", "a", lists("x"));
    expect(catalog.view(viewer("ada"))).toBe(catalog.snapshot);
    expect(catalog.hasOwnLists(viewer("ada"))).toBe(true);
  });

  test("has its own lists of one server, and the common ones of the others", () => {
    const catalog = catalogOf({ a: lists("x"), b: lists("y") });
    catalog.own("ada", "a", lists("mine"));
    expect(namesIn(catalog, "ada")).toEqual(["a_mine", "b_y"]);
    expect(namesIn(catalog, "bob")).toEqual(["a_x", "b_y"]);
    catalog.update("b", lists("y", "z"));
    expect(namesIn(catalog, "ada")).toEqual(["a_mine", "b_y", "b_z"]);
    catalog.remove("a");
    expect(namesIn(catalog, "ada")).toEqual(["b_y", "b_z"]);
    catalog.disown("ada");
    expect(catalog.view(viewer("ada"))).toBe(catalog.snapshot);
  });

  test("is shared by clients with equal lists, however many there are", () => {
    const catalog = catalogOf({ a: lists("x") });
    for (let i = 0; i < 200; i++) catalog.own(`client ${i}`, "a", lists("other"));
    const views = new Set(Array.from({ length: 200 }, (_, i) => catalog.view(viewer(`client ${i}`))));
    expect(views.size).toBe(1);
    // Beyond the bound, a view is built again when somebody looks.
    for (let i = 0; i < 200; i++) catalog.own(`client ${i}`, "a", lists(`own${i}`));
    for (let i = 0; i < 200; i++) expect(namesIn(catalog, `client ${i}`)).toEqual([`a_own${i}`]);
    expect(namesIn(catalog, "client 0")).toEqual(["a_own0"]);
  });

  test("is announced to its client when it changes, and only then", () => {
    const catalog = catalogOf({ a: lists("x"), b: lists("y") });
    const told: unknown[] = [];
    expect(namesIn(catalog, "ada")).toEqual(["a_x", "b_y"]);
    catalog.watch(viewer("bob"), (kinds) => told.push(["all", kinds]));
    catalog.watch(viewer("ada"), (kinds) => told.push(["ada", kinds]));
    catalog.own("ada", "a", lists("x"));
    expect(told.splice(0)).toEqual([]);
    catalog.own("ada", "a", lists("mine"));
    expect(told.splice(0)).toEqual([["ada", ["tools"]]]);
    expect(namesIn(catalog, "ada")).toEqual(["a_mine", "b_y"]);
    // What changes for all but her does not concern her.
    catalog.update("a", lists("x", "z"));
    expect(namesIn(catalog, "ada")).toEqual(["a_mine", "b_y"]);
    expect(told.splice(0)).toEqual([["all", ["tools"]]]);
    catalog.update("b", lists("y", "z"));
    expect(namesIn(catalog, "ada")).toEqual(["a_mine", "b_y", "b_z"]);
    expect(told.splice(0)).toEqual([
      ["ada", ["tools"]],
      ["all", ["tools"]],
    ]);
  });
});

test("servers that arrive in one turn share one snapshot, and each is told when it is there", async () => {
  const catalog = catalogOf({});
  let swaps = 0;
  catalog.on("swap", () => swaps++);
  const arrive = async (id: string): Promise<string[]> => {
    catalog.put({ id, prefix: `${id}_`, tools: { allow: ["*"], deny: [], overrides: {} } });
    catalog.update(id, lists("x"));
    await catalog.caughtUp();
    return namesIn(catalog, "ada");
  };
  const seen = await Promise.all([arrive("a"), arrive("b"), arrive("c")]);
  expect(seen).toEqual(Array.from({ length: 3 }, () => ["a_x", "b_x", "c_x"]));
  expect(swaps).toBe(1);
  expect(await arrive("d")).toContain("d_x");
  expect(swaps).toBe(2);
});

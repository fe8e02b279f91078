/** Views of clients that do not see everything: what is shown, shared, kept and told. */
import { describe, expect, test } from "vitest";
import { inProfiles, visibilityOf } from "../../../../src/auth/access/conditions.ts";
import { finish, SLICE } from "../../../../src/lib/timing/slices.ts";
import type { ChangeKind } from "../../../../src/mcp/protocol/methods.ts";
import type { Visibility } from "../../../../src/mcp/protocol/principal.ts";
import { Catalog } from "../../../../src/upstream/catalog/catalog.ts";
import { type Definition, emptyLists, type ServerLists } from "../../../../src/upstream/catalog/definitions.ts";
import { createSnapshot, type ServerView, type SnapshotSettings } from "../../../../src/upstream/catalog/snapshot.ts";
import { KNOWN, STARTING } from "../../../../src/upstream/catalog/standing.ts";
import { visibleSnapshot } from "../../../../src/upstream/catalog/views/visible-snapshot.ts";
import { MAX_VIEWS } from "../../../../src/upstream/catalog/views/visible-views.ts";
import { until } from "../../../fixtures/until.ts";

const settings: SnapshotSettings = {
  maxNameLength: 64,
  uris: "prefixed",
  pageSize: 100,
  local: [definition({ name: "search_tools" })],
  exposure: { mode: "all", budgetTokens: 1000 },
};
const everything = { allow: ["*"], deny: [] };

function definition(value: Record<string, unknown>): Definition {
  return { value, text: JSON.stringify(value) };
}

const lists = (...names: string[]): ServerLists => ({
  ...emptyLists,
  tools: names.map((name) => definition({ name })),
});

function showing(servers: string[], tools: { allow?: string[]; deny?: string[] } = {}, server?: string): Visibility {
  const profile = { servers, tools: { ...everything, ...tools }, prompts: everything, resources: everything };
  return visibilityOf({ conditions: [inProfiles([profile])], profile: undefined, server, expose: undefined });
}

const serverOf = (id: string, own: ServerLists, prefix = `${id}_`): ServerView => ({
  id,
  prefix,
  standing: KNOWN,
  lists: own,
  tools: { allow: ["*"], deny: [], overrides: {} },
});

function catalogOf(servers: Record<string, ServerLists>): Catalog {
  const catalog = new Catalog(settings);
  for (const [id, own] of Object.entries(servers)) {
    catalog.put({ id, prefix: `${id}_`, tools: { allow: ["*"], deny: [], overrides: {} } });
    catalog.update(id, own);
  }
  return catalog;
}

describe("a view", () => {
  test("is one object for equal visibilities, and kept until the catalog changes", () => {
    const catalog = catalogOf({ a: lists("x", "y"), b: lists("z") });
    const view = catalog.view({ key: "ada", visibility: showing(["a"]) });
    expect(catalog.view({ key: "bob", visibility: showing(["a"]) })).toBe(view);
    expect(catalog.view({ key: "bob", visibility: showing(["b"]) })).not.toBe(view);
    expect(view.tools.entries.map(({ exposed }) => exposed)).toEqual(["a_x", "a_y"]);
    catalog.update("a", lists("x"));
    const next = catalog.view({ key: "ada", visibility: showing(["a"]) });
    expect(next.tools.entries.map(({ exposed }) => exposed)).toEqual(["a_x"]);
    expect(view.tools.entries).toHaveLength(2);
  });

  test("is not built again when only the standing of a server changes", () => {
    const catalog = catalogOf({ a: lists("x"), b: lists("z") });
    const viewer = { key: "ada", visibility: showing(["a"]) };
    const { tools } = catalog.view(viewer);
    catalog.stand("a", STARTING);
    expect(catalog.snapshot.standing("a")).toEqual(STARTING);
    const view = catalog.view(viewer);
    expect(view.standing("a")).toEqual(STARTING);
    expect(view.servers.map(({ id, standing }) => [id, standing])).toEqual([["a", STARTING]]);
    expect(view.tools).toBe(tools);
  });

  test("has the names of all views, also of those that collide", () => {
    const servers = [serverOf("a", lists("x", "only"), ""), serverOf("b", lists("x", "only_b"), "")];
    const base = createSnapshot(servers, settings);
    const view = finish(visibleSnapshot(base, showing(["b"])));
    const everywhere = base.tools.entries.filter(({ serverId }) => serverId === "b");
    expect(view.tools.entries).toEqual(everywhere);
    expect(view.tools.find(everywhere[0]!.exposed)).toBe(everywhere[0]);
    for (const { serverId, exposed } of base.tools.entries) {
      if (serverId === "a" && exposed !== "x") expect(view.tools.find(exposed)).toBeUndefined();
    }
    expect(view.standing("a").kind).toBe("disabled");
    expect(view.shows("a")).toBe(false);
  });

  test("of a server alone has its own names, without aliases and the gateway's tools", () => {
    const server = { ...serverOf("a", lists("x", "y")), tools: { ...everything, overrides: { x: { alias: "z" } } } };
    const base = createSnapshot([server, serverOf("b", lists("x"))], settings);
    expect(base.tools.entries.map(({ exposed }) => exposed)).toEqual(["a_y", "a_z", "b_x"]);
    const view = finish(visibleSnapshot(base, showing(["*"], {}, "a")));
    expect(view.pagers.tools.entries.map(({ exposed }) => exposed)).toEqual(["x", "y"]);
    expect(view.tools.find("x")?.serverId).toBe("a");
    expect(view.tools.find("b_x")).toBeUndefined();
  });

  test("is dropped when many others were used since", async () => {
    const catalog = catalogOf({ a: lists("x", "y") });
    const visibilities = Array.from({ length: MAX_VIEWS + 10 }, (_, i) => showing(["a"], { deny: [`no${i}`] }));
    const first = { key: "ada", visibility: visibilities[0]! };
    const view = catalog.view(first);
    for (const visibility of visibilities.slice(1)) {
      await catalog.ready({ key: "bob", visibility });
      expect(catalog.view(first)).toBe(view);
    }
    expect(catalog.visibleViews).toBe(MAX_VIEWS);
    expect(catalog.ready({ key: "bob", visibility: visibilities[1]! })).toBeInstanceOf(Promise);
    expect(catalog.ready({ key: "bob", visibility: visibilities.at(-1)! })).toBeUndefined();
  });

  test("is built in slices, however large the catalog is", async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `tool_${i}`);
    const catalog = catalogOf({ a: lists(...many), b: lists(...many) });
    await catalog.caughtUp();
    const visibility = showing(["a"], { deny: ["*_7*"] });
    let most = 0;
    const work = visibleSnapshot(catalog.snapshot, visibility);
    for (let step = work.next(); !step.done; step = work.next()) most = Math.max(most, step.value);
    expect(most).toBeLessThan(SLICE);
    const waits = catalog.ready({ key: "ada", visibility });
    expect(waits).toBeInstanceOf(Promise);
    expect(catalog.ready({ key: "bob", visibility })).toBe(waits);
    await waits;
    expect(catalog.view({ key: "ada", visibility }).tools.entries).toHaveLength(
      many.filter((name) => !name.includes("_7")).length,
    );
  });
});

describe("a change", () => {
  test("is told to those whose view it changes", async () => {
    const catalog = catalogOf({ a: lists("x"), b: lists("y") });
    await catalog.caughtUp();
    const told: Record<string, (readonly ChangeKind[])[]> = { all: [], a: [], b: [] };
    const watch = async (key: string, visibility?: Visibility) => {
      catalog.watch({ key, visibility }, (kinds) => told[key]!.push(kinds));
      await catalog.ready({ key, visibility });
    };
    await Promise.all([watch("all"), watch("a", showing(["a"])), watch("b", showing(["b"]))]);
    catalog.update("b", lists("y", "z"));
    await until(() => told["all"]!.length === 1 && told["b"]!.length === 1);
    catalog.update("a", lists("x", "w"));
    await until(() => told["a"]!.length === 1);
    expect(told).toEqual({ all: [["tools"], ["tools"]], a: [["tools"]], b: [["tools"]] });
    // A server that changed nothing that anybody sees.
    catalog.announce("b", ["prompts"]);
    expect(told).toEqual({
      all: [["tools"], ["tools"], ["prompts"]],
      a: [["tools"]],
      b: [["tools"], ["prompts"]],
    });
  });

  test("of a client's visibility is told if its lists differ", async () => {
    const catalog = catalogOf({ a: lists("x"), b: lists("y") });
    await catalog.caughtUp();
    const viewer: { key: string; visibility: Visibility | undefined } = { key: "ada", visibility: undefined };
    const told: (readonly ChangeKind[])[] = [];
    const stop = catalog.watch(viewer, (kinds) => told.push(kinds));
    for (const next of [showing(["a"]), showing(["a"], { deny: ["nothing"] }), undefined]) {
      viewer.visibility = next;
      catalog.lookAgain();
      await catalog.ready(viewer);
      await new Promise(setImmediate);
    }
    await until(() => told.length === 2);
    expect(told).toEqual([["tools"], ["tools"]]);
    stop();
    catalog.update("a", lists());
    await catalog.caughtUp();
    expect(told).toHaveLength(2);
  });
});

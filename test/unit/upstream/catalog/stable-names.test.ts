/**
 * The name of an entry depends on the config and on its own server: it is the same whatever the
 * other servers list, and whether they are there, starting, down or disabled.
 */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { Catalog } from "../../../../src/upstream/catalog/catalog.ts";
import { type Definition, emptyLists, type ServerLists } from "../../../../src/upstream/catalog/definitions.ts";
import type { SnapshotSettings } from "../../../../src/upstream/catalog/snapshot.ts";
import type { Standing } from "../../../../src/upstream/catalog/standing.ts";

const settings = (
  uris: SnapshotSettings["uris"],
  maxNameLength = 24,
  repeatPrefix: boolean = true,
): SnapshotSettings => ({
  maxNameLength,
  repeatPrefix,
  uris,
  pageSize: 1000,
  local: [],
  exposure: { mode: "all", budgetTokens: 1000 },
});
const define = (key: string, values: readonly string[]): Definition[] =>
  values.map((value) => ({ value: { [key]: value }, text: JSON.stringify({ [key]: value }) }));
const listsOf = (names: readonly string[], uris: readonly string[] = []): ServerLists => ({
  ...emptyLists,
  tools: define("name", names),
  prompts: define("name", names),
  resources: define("uri", uris),
  templates: define(
    "uriTemplate",
    uris.map((uri) => `${uri}/{x}`),
  ),
});
const policy = { allow: ["*"], deny: [], overrides: {} };

/** Ids and prefixes that begin each other in every way; no two prefixes are the same. */
const prefixes: Record<string, string> = { a: "a_", a_b: "a_b_", a_b_c: "a_b_c_", bare: "", other: "a_b-", z: "z" };
const ids = Object.keys(prefixes);
/**
 * Names that meet under these prefixes: `a` + `b_x` and `a_b` + `x`. The last ones are what the
 * suffixes of others look like: `x-0c3006` of `a_b` is the name of `b_x` of `a`.
 */
const name = fc.constantFrom(
  "x",
  "b_x",
  "b_c_x",
  "c_x",
  "a_x",
  "a_b_x",
  "a_b_c_x",
  "b-x",
  "a_b-x",
  "zx",
  "é",
  `b_${"x".repeat(30)}`,
  "x-0c3006",
  "b_x-0c3006",
  "a_b_x-0c3006",
);
const uri = fc.constantFrom(
  "x",
  "b_x",
  "b:x",
  "b://x",
  "b_c_x",
  "c_x",
  "file:///a_b_x",
  "a+x:y",
  "a-b+x:y",
  "a_b_x",
  "x:y",
  "__x~ae6503e1",
  "b___x~ae6503e1",
);
const lists = fc.tuple(fc.uniqueArray(name, { maxLength: 6 }), fc.uniqueArray(uri, { maxLength: 6 }));
const standing = fc.constantFrom<Standing>(
  { kind: "known" },
  { kind: "starting" },
  { kind: "down", reason: "gone" },
  { kind: "disabled" },
);
const others = fc.dictionary(fc.constantFrom(...ids), fc.tuple(lists, standing));

function catalogOf(uris: SnapshotSettings["uris"], repeatPrefix?: boolean): Catalog {
  const catalog = new Catalog(settings(uris, 24, repeatPrefix));
  for (const id of ids) {
    catalog.put({ id, prefix: prefixes[id]!, tools: policy });
    catalog.stand(id, { kind: "starting" });
  }
  return catalog;
}

/** What clients see of one server. */
function namesOf(catalog: Catalog, serverId: string) {
  const { tools, prompts, resources } = catalog.snapshot;
  const own = <Entry extends { serverId: string }>(entries: readonly Entry[]) =>
    entries.filter((entry) => entry.serverId === serverId);
  return {
    tools: own(tools.entries).map((entry) => [entry.name, entry.exposed]),
    prompts: own(prompts.entries).map((entry) => [entry.name, entry.exposed]),
    resources: own(resources.resources).map((entry) => [entry.uri, entry.exposed, entry.flatId]),
    templates: own(resources.templates).map((entry) => [entry.uriTemplate, entry.exposed, entry.flatId]),
  };
}

describe("whatever the other servers do", () => {
  test.each([
    ["prefixed", true],
    ["prefixed", false],
    ["flat", true],
  ] as const)("the names of a server stay, %s URIs, repeated prefixes: %s", (uris, repeatPrefix) => {
    fc.assert(
      fc.property(fc.constantFrom(...ids), lists, fc.array(others, { maxLength: 3 }), (id, [names, own], changes) => {
        const catalog = catalogOf(uris, repeatPrefix);
        catalog.update(id, listsOf(names, own));
        catalog.stand(id, { kind: "known" });
        const alone = namesOf(catalog, id);
        for (const change of changes) {
          for (const [other, [[otherNames, otherUris], stands]] of Object.entries(change)) {
            if (other === id) continue;
            catalog.update(other, listsOf(otherNames, otherUris));
            catalog.stand(other, stands);
          }
          expect(namesOf(catalog, id)).toEqual(alone);
        }
      }),
      { numRuns: 150 },
    );
  });

  test("no form of a server's name is found at another server, whichever servers are connected", () => {
    const mode = fc.constantFrom("prefixed" as const, "flat" as const, "raw" as const);
    const given = fc.tuple(mode, fc.boolean());
    fc.assert(
      fc.property(others, fc.constantFrom(...ids), lists, given, (change, victim, [names, own], [uris, repeat]) => {
        const full = catalogOf(uris, repeat);
        full.update(victim, listsOf(names, own));
        const before = full.snapshot;
        const asked = before.tools.entries.map(({ exposed }) => exposed);
        const read = before.resources.resources
          .flatMap(({ exposed, flatId }) => [exposed, flatId, `file:///${flatId}`])
          // A raw URI belongs to the server that lists it.
          .filter((form) => before.resources.claimants(form).includes(victim));
        const catalog = catalogOf(uris, repeat);
        for (const [other, [[otherNames, otherUris], stands]] of Object.entries(change)) {
          if (other === victim) continue;
          catalog.update(other, listsOf(otherNames, otherUris));
          catalog.stand(other, stands);
        }
        const { tools, prompts, resources } = catalog.snapshot;
        for (const exposed of asked) expect([exposed, tools.find(exposed)]).toEqual([exposed, undefined]);
        for (const exposed of asked) expect([exposed, prompts.find(exposed)]).toEqual([exposed, undefined]);
        for (const form of read) expect([form, resources.resolve(form)]).toEqual([form, { kind: "unknown" }]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("one id with its separator begins another", () => {
  const pair = (toolsOfA: string[], toolsOfAb: string[] | undefined) => {
    const catalog = new Catalog(settings("flat", 64));
    catalog.put({ id: "a", prefix: "a_", tools: policy });
    catalog.put({ id: "a_b", prefix: "a_b_", tools: policy });
    catalog.update("a", listsOf(toolsOfA, ["b:x", "c:x"]));
    if (toolsOfAb) catalog.update("a_b", listsOf(toolsOfAb, ["x"]));
    else catalog.stand("a_b", { kind: "disabled" });
    return catalog.snapshot;
  };

  it("the shorter one's names that could be the longer one's carry a suffix, whether it has them or not", () => {
    const names = (toolsOfAb: string[] | undefined) =>
      pair(["b_x", "c"], toolsOfAb).tools.entries.map((e) => e.exposed);
    expect(names(undefined)).toEqual(["a_b_x-0c3006", "a_c"]);
    expect(names([])).toEqual(["a_b_x-0c3006", "a_c"]);
    expect(names(["x"])).toEqual(["a_b_x", "a_b_x-0c3006", "a_c"]);
  });

  it("the longer one's names that look like that carry one more", () => {
    const { tools } = pair(["b_x"], ["x-0c3006"]);
    expect(tools.find("a_b_x-0c3006")?.serverId).toBe("a");
    expect(tools.entries.find(({ serverId }) => serverId === "a_b")?.exposed).toBe("a_b_x-0c3006-27e2ca");
    expect(pair(["b_x"], ["x-0c3006"]).tools.claimants("a_b_x-0c3006")).toEqual(["a_b", "a"]);
  });

  it("and so do its flat ids", () => {
    const flatIds = pair([], []).resources.resources.map(({ flatId }) => flatId);
    expect(flatIds).toEqual(["a_b___x~ae6503e1", "a_b_x", "a_c___x"]);
    expect(pair([], undefined).resources.resolve("a_b___x")).toEqual({ kind: "unknown" });
    expect(pair([], undefined).resources.resolve("a_b___x~ae6503e1")).toMatchObject({ serverId: "a", uri: "b:x" });
  });

  it("the longer one's name is never the shorter one's", () => {
    expect(pair(["b_x"], undefined).tools.find("a_b_x")).toBeUndefined();
    expect(pair(["b_x"], ["x"]).tools.find("a_b_x")?.serverId).toBe("a_b");
    expect(pair(["b_x"], []).tools.find("a_b_x-0c3006")?.serverId).toBe("a");
  });
});

describe("a name that carries its server's prefix", () => {
  const git = (repeatPrefix: boolean, names: string[], tools: typeof policy = policy) => {
    const catalog = new Catalog(settings("prefixed", 64, repeatPrefix));
    catalog.put({ id: "git", prefix: "git_", tools });
    catalog.put({ id: "other", prefix: "other_", tools: policy });
    catalog.update("git", listsOf(names));
    catalog.update("other", listsOf(["git_status"]));
    return catalog.snapshot;
  };
  const exposed = ({ tools }: Catalog["snapshot"]) =>
    tools.entries.filter(({ serverId }) => serverId === "git").map(({ name, exposed }) => [name, exposed]);

  it("is listed with the prefix once or twice, and found by both names", () => {
    expect(exposed(git(true, ["git_status"]))).toEqual([["git_status", "git_git_status"]]);
    expect(exposed(git(false, ["git_status"]))).toEqual([["git_status", "git_status"]]);
    for (const repeat of [true, false]) {
      const { tools, prompts } = git(repeat, ["git_status"]);
      for (const asked of ["git_status", "git_git_status"]) {
        expect(tools.find(asked)).toMatchObject({ serverId: "git", name: "git_status" });
        expect(prompts.find(asked)).toMatchObject({ serverId: "git", name: "git_status" });
      }
    }
  });

  it("gives way to the entry that has the rest of the name, hidden or not", () => {
    const names = ["git_status", "status", "git_git_status"];
    const listed = [
      ["git_git_status", "git_git_git_status"],
      ["git_status", "git_git_status"],
      ["status", "git_status"],
    ];
    for (const repeat of [true, false]) {
      expect(exposed(git(repeat, names))).toEqual(listed);
      expect(exposed(git(repeat, names.toReversed()))).toEqual(listed);
      const hidden = git(repeat, names, { ...policy, deny: ["status"] as never[] });
      expect(exposed(hidden)).toEqual(listed.slice(0, 2));
      expect(hidden.tools.find("git_status")).toBeUndefined();
    }
  });

  it("an alias is listed as it is; every other form is accepted", () => {
    const aliased = { ...policy, overrides: { git_status: { alias: "state" } } };
    const { tools } = git(false, ["git_status"], aliased);
    expect(tools.entries[0]?.exposed).toBe("git_state");
    for (const asked of ["git_state", "git_status", "git_git_status"]) {
      expect(tools.find(asked)?.name).toBe("git_status");
    }
  });

  it("nothing changes for a server without a prefix, or a name that is the prefix", () => {
    const catalog = new Catalog(settings("prefixed", 64, false));
    catalog.put({ id: "bare", prefix: "", tools: policy });
    catalog.put({ id: "git", prefix: "git_", tools: policy });
    catalog.update("bare", listsOf(["x"]));
    catalog.update("git", listsOf(["git_"]));
    expect(catalog.snapshot.tools.entries.map((entry) => entry.exposed)).toEqual(["git_git_", "x"]);
  });
});

describe("a server without a prefix", () => {
  const weather = (tools: string[], overrides = {}) => {
    const catalog = new Catalog(settings("prefixed", 64));
    catalog.put({ id: "weather", prefix: "", tools: { ...policy, overrides } });
    catalog.put({ id: "github", prefix: "github_", tools: policy });
    catalog.stand("github", { kind: "disabled" });
    catalog.update("weather", listsOf(tools));
    return catalog;
  };

  it("has its names as they are, and a suffix where they could be another's", () => {
    const { entries } = weather(["github_push", "rain", "github"]).snapshot.tools;
    expect(entries.map(({ exposed }) => exposed)).toEqual(["github", "github_push-1aacea", "rain"]);
  });

  it("an alias is no way around it", () => {
    const { tools } = weather(["rain"], { rain: { alias: "github_push" } }).snapshot;
    expect(tools.entries.map(({ exposed }) => exposed)).toEqual(["github_push-05812f"]);
    expect(tools.find("github_push")).toBeUndefined();
    expect(tools.find("rain")?.name).toBe("rain");
    const original = weather(["github_push"], { github_push: { alias: "rain" } }).snapshot;
    expect(original.tools.find("github_push")).toBeUndefined();
    expect(original.tools.find("github_push-1aacea")?.exposed).toBe("rain");
  });

  it("while there is one, no other server is called by its original names", () => {
    const catalog = weather(["rain"]);
    catalog.stand("github", { kind: "known" });
    catalog.update("github", listsOf(["push", "rain"]));
    catalog.update("weather", emptyLists);
    const { tools } = catalog.snapshot;
    expect([tools.find("push"), tools.find("rain")]).toEqual([undefined, undefined]);
    expect(tools.find("github_push")?.serverId).toBe("github");
  });
});

it("a unique original name is accepted where no configured prefix could claim it", () => {
  const catalog = new Catalog(settings("prefixed", 64));
  catalog.put({ id: "git", prefix: "git_", tools: policy });
  catalog.put({ id: "hub", prefix: "hub_", tools: policy });
  catalog.update("git", listsOf(["log", "git_status", "hub_push", "both"]));
  catalog.update("hub", listsOf(["both"]));
  const { tools } = catalog.snapshot;
  expect(tools.find("log")?.exposed).toBe("git_log");
  expect(tools.find("git_status")?.exposed).toBe("git_git_status");
  for (const claimed of ["hub_push", "both"]) expect([claimed, tools.find(claimed)]).toEqual([claimed, undefined]);
  expect(tools.owners("both").map(({ exposed }) => exposed)).toEqual(["git_both", "hub_both"]);
});

/** Which tools are listed to which kind of client. */
import { describe, expect, test } from "vitest";
import { decideExposure, type ExposureSettings } from "../../../../src/upstream/catalog/exposure.ts";
import type { NamedEntry } from "../../../../src/upstream/catalog/named.ts";

const entry = (exposed: string, serverId = "a"): NamedEntry => {
  const value = { name: exposed };
  return { exposed, name: exposed, serverId, text: JSON.stringify(value), definition: { value, text: "" } } as never;
};
const tools = [entry("one"), entry("two"), entry("three", "b"), entry("a_rather_long_name", "b")];
const own = ["search_tools", "describe_tool", "call_tool"].map((name) => ({ value: { name }, text: "{}" }));
const source = {
  servers: [{ id: "a" }, { id: "b" }],
  tools,
  localIn: (mode: "all" | "search") => (mode === "all" ? [] : own),
};
const listed = (settings: Partial<ExposureSettings>, from: Parameters<typeof decideExposure>[0] = source) => {
  const exposure = decideExposure(from, { mode: "auto", budgetTokens: 10_000, ...settings });
  return from.tools.filter(exposure.isListed).map(({ exposed }) => exposed);
};
const all = tools.map(({ exposed }) => exposed);

describe("auto", () => {
  test("lists everything under the budget, and nothing above it", () => {
    expect(listed({})).toEqual(all);
    expect(listed({ budgetTokens: 5 })).toEqual([]);
  });

  test("lists everything to a client that searches, whatever the budget and the servers' settings", () => {
    const kind = { searchesTools: true, pinned: ["two"] };
    const servers = [
      { id: "a", expose: "search" as const },
      { id: "b", expose: { pinned: ["three"] } },
    ];
    const exposure = decideExposure({ ...source, servers }, { mode: "auto", budgetTokens: 5, kind });
    expect(tools.filter(exposure.isListed)).toEqual(tools);
    expect(tools.filter(exposure.isPinned).map(({ exposed }) => exposed)).toEqual(["two", "three"]);
  });

  test("never lists more than the client's cap, the gateway's own tools included", () => {
    expect(listed({ kind: { maxTools: 4 } })).toEqual(all);
    expect(listed({ kind: { maxTools: 3 } })).toEqual([]);
    const servers = [{ id: "a", expose: "all" as const }, { id: "b" }];
    expect(listed({ kind: { maxTools: 4 }, budgetTokens: 5 }, { ...source, servers })).toEqual(["one"]);
    expect(listed({ kind: { maxTools: 2 }, budgetTokens: 5 }, { ...source, servers })).toEqual([]);
  });

  test("leaves out names that are too long for the client", () => {
    expect(listed({ kind: { maxNameLength: 17 } })).toEqual(["one", "two", "three"]);
    // The search tools that this takes count too.
    expect(listed({ kind: { maxNameLength: 17, maxTools: 5 } })).toEqual([]);
  });

  test("lists the client's pins in any case", () => {
    expect(listed({ kind: { pinned: ["three"] }, budgetTokens: 5 })).toEqual(["three"]);
  });
});

test("outside of auto, nothing is known of a client but its pins", () => {
  const kind = { searchesTools: true, maxTools: 1, maxNameLength: 3, pinned: ["three"] };
  expect(listed({ mode: "all", kind })).toEqual(all);
  expect(listed({ mode: "search", kind })).toEqual(["three"]);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ConfigDiff, diffConfig } from "../../../src/config/diff.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import type { Config } from "../../../src/config/schema/config.ts";

function config(value: unknown): Config {
  return parseConfig(JSON.stringify(value), { file: "goblin.json", env: {}, cwd: "/project" }).config;
}

const ids = (servers: readonly { readonly id: string }[]) => servers.map(({ id }) => id);

describe("diffConfig", () => {
  const old = config({
    mcpServers: { keep: { command: "k" }, move: { command: "m" }, tune: { command: "t" }, go: { command: "g" } },
    gateway: { port: 1 },
  });

  test("the same config is the same", () => {
    expect(diffConfig(old, structuredClone(old))).toEqual({
      added: [],
      removed: [],
      changed: [],
      adjusted: [],
      order: ["keep", "move", "tune", "go"],
      settings: [],
      restartNeeded: [],
      same: true,
    });
  });

  test("tells new connections from mere adjustments", () => {
    const next = config({
      mcpServers: {
        keep: { command: "k" },
        move: { command: "m", env: { X: "1" }, prefix: "also_" },
        tune: { command: "t", prefix: "t2_", tools: { deny: ["x"] } },
        come: { url: "http://localhost/mcp" },
      },
      gateway: { port: 2, auth: { tokens: ["x"] } },
      limits: { sessions: 5 },
      timeouts: { callMs: 1000 },
      log: { audit: "/a" },
    });
    const diff = diffConfig(old, next);
    expect(ids(diff.added)).toEqual(["come"]);
    expect(diff.removed).toEqual(["go"]);
    expect(ids(diff.changed)).toEqual(["move"]);
    expect(ids(diff.adjusted)).toEqual(["tune"]);
    expect(diff.adjusted[0]?.prefix).toBe("t2_");
    expect(diff.settings).toEqual([
      "gateway.port",
      "gateway.auth.tokens",
      "limits.sessions",
      "timeouts.callMs",
      "log.audit",
    ]);
    expect(diff.restartNeeded).toEqual(["gateway.port", "log.audit"]);
    expect(diff.same).toBe(false);
  });

  test.each([
    ["share", { command: "a", share: "session" }, "changed"],
    ["enabled", { command: "a", enabled: false }, "changed"],
    ["args", { command: "a", args: ["x"] }, "changed"],
    ["timeoutMs", { command: "a", timeoutMs: 5 }, "adjusted"],
    ["expose", { command: "a", expose: "search" }, "adjusted"],
  ] as const)("%s", (_key, entry, list) => {
    const diff = diffConfig(config({ mcpServers: { a: { command: "a" } } }), config({ mcpServers: { a: entry } }));
    expect(ids(diff[list])).toEqual(["a"]);
    expect(diff.changed.length + diff.adjusted.length).toBe(1);
  });

  test("a new order alone is a difference", () => {
    const diff = diffConfig(
      config({ mcpServers: { a: { command: "a" }, b: { command: "b" } } }),
      config({ mcpServers: { b: { command: "b" }, a: { command: "a" } } }),
    );
    expect(diff.order).toEqual(["b", "a"]);
    expect(diff.same).toBe(false);
    expect([...diff.changed, ...diff.adjusted, ...diff.added, ...diff.removed]).toEqual([]);
  });

  const entry = fc.record(
    {
      command: fc.constantFrom("a", "b"),
      args: fc.array(fc.constantFrom("x", "y"), { maxLength: 2 }),
      enabled: fc.boolean(),
      share: fc.constantFrom("all", "session"),
      prefix: fc.constantFrom("", "p_"),
      timeoutMs: fc.constantFrom(1, 2),
      tools: fc.record({ deny: fc.constantFrom(["x"], []) }, { requiredKeys: [] }),
    },
    { requiredKeys: ["command"] },
  );
  const configs = fc
    .record(
      {
        mcpServers: fc
          .uniqueArray(fc.tuple(fc.constantFrom("s1", "s2", "s3", "s4"), entry), { selector: ([id]) => id })
          .map((servers) => Object.fromEntries(servers)),
        gateway: fc.record({ port: fc.constantFrom(1, 2), auth: fc.constantFrom({ tokens: ["x"] }, {}) }),
        limits: fc.record({ sessions: fc.constantFrom(1, 2), bodyBytes: fc.constantFrom(1, 2) }),
        log: fc.record({ audit: fc.constantFrom("/a", "/b") }, { requiredKeys: [] }),
      },
      { requiredKeys: ["mcpServers"] },
    )
    .map(config);

  test("applied to the old config it gives the new one", () => {
    fc.assert(
      fc.property(configs, configs, (before, after) => {
        const diff = diffConfig(before, after);
        expect(apply(before, diff, after)).toEqual(after);
        const touched = [...ids(diff.added), ...ids(diff.changed), ...ids(diff.adjusted), ...diff.removed];
        expect(new Set(touched).size).toBe(touched.length);
        if (diff.same) expect(before).toEqual(after);
      }),
    );
  });
});

/** Only what the difference names is taken from the new config. */
function apply(before: Config, diff: ConfigDiff, after: Config): Config {
  const result = structuredClone(before) as unknown as Record<string, unknown>;
  for (const key of diff.settings) {
    const steps = key.split(".");
    const last = steps.pop()!;
    const section = steps.reduce((value, step) => value[step] as Record<string, unknown>, result);
    const value = [...steps, last].reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], after);
    if (value === undefined) delete section[last];
    else section[last] = value;
  }
  const servers = new Map(before.servers.map((server) => [server.id, server]));
  for (const id of diff.removed) servers.delete(id);
  for (const server of [...diff.added, ...diff.changed, ...diff.adjusted]) servers.set(server.id, server);
  expect([...servers.keys()].toSorted()).toEqual(diff.order.toSorted());
  return { ...(result as unknown as Config), servers: diff.order.map((id) => servers.get(id)!) };
}

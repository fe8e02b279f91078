import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchesGlob } from "../../../../src/lib/text/glob.ts";
import { finish } from "../../../../src/lib/timing/slices.ts";
import { assignNames, type Named, nameClaims } from "../../../../src/mcp/identifiers/names.ts";

const claimsOf = (prefixes: Record<string, string>, maxLength = 64) =>
  nameClaims(
    Object.entries(prefixes).map(([serverId, prefix]) => ({ serverId, prefix })),
    maxLength,
  );
const settings = { maxLength: 64, reserved: new Set<string>(), claims: claimsOf({}) };
const named = (serverId: string, name: string, prefix = `${serverId}_`): Named => ({
  serverId,
  name,
  wanted: prefix + name,
});

describe("names", () => {
  test("are the server's id and the name", () => {
    expect(finish(assignNames([named("a", "x"), named("b", "x"), named("c", "x", "")], settings))).toEqual([
      "a_x",
      "b_x",
      "x",
    ]);
  });

  test("two that meet both get a suffix of their own, others stay as they are", () => {
    const names = finish(assignNames([named("a", "b_c"), named("a_b", "c"), named("a", "d")], settings));
    expect(names).toEqual(["a_b_c-e474ae", "a_b_c-e31f5a", "a_d"]);
  });

  test("a reserved name is never given away", () => {
    const [name] = finish(
      assignNames([named("goblin2", "health", "goblin_")], {
        ...settings,
        reserved: new Set(["goblin_health"]),
      }),
    );
    expect(name).toMatch(/^goblin_health-[0-9a-f]{6}$/);
  });

  test("a long one is cut to the limit, with a suffix, and without half a character", () => {
    const options = { ...settings, maxLength: 20 };
    const [long, face, exact] = finish(
      assignNames(
        [named("s", "x".repeat(50)), named("s", `${"x".repeat(10)}😀${"x".repeat(20)}`), named("s", "x".repeat(18))],
        options,
      ),
    );
    expect(long).toMatch(/^s_x{11}-[0-9a-f]{6}$/);
    expect(face).toMatch(/^s_x{10}-[0-9a-f]{6}$/);
    expect(exact).toBe(`s_${"x".repeat(18)}`);
  });

  const part = fc.string({ unit: fc.constantFrom("a", "b", "_", "-", "é"), minLength: 1, maxLength: 24 });
  const entries = fc.uniqueArray(fc.tuple(part, part, fc.boolean()), {
    selector: ([serverId, name]) => `${serverId}\n${name}`,
    maxLength: 30,
  });
  const asNamed = ([serverId, name, bare]: [string, string, boolean]) =>
    named(serverId, name, bare ? "" : `${serverId}_`);
  const options = { maxLength: 24, reserved: new Set(["a", "a_b", "b_b"]), claims: claimsOf({}) };

  test("are unique, free of reserved ones, and no longer than the limit", () => {
    fc.assert(
      fc.property(entries, (list) => {
        const names = finish(assignNames(list.map(asNamed), options));
        expect(new Set(names).size).toBe(names.length);
        for (const name of names) {
          expect(name.length).toBeLessThanOrEqual(24);
          expect(options.reserved.has(name)).toBe(false);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("do not depend on the order of the servers, nor on anything but the entries", () => {
    fc.assert(
      fc.property(entries, fc.infiniteStream(fc.nat()), (list, random) => {
        const order = [...list].map((entry) => ({ entry, at: random.next().value })).sort((x, y) => x.at - y.at);
        const shuffled = order.map(({ entry }) => entry);
        const byOrigin = (given: typeof list) => {
          const names = finish(assignNames(given.map(asNamed), options));
          return new Map(given.map(([serverId, name], i) => [`${serverId}\n${name}`, names[i]]));
        };
        expect(byOrigin(shuffled)).toEqual(byOrigin(list));
      }),
    );
  });

  test("under another's prefix always have a suffix, also where a prefix is cut", () => {
    const claims = claimsOf({ a: "a_", a_b: "a_b_", bare: "", long: "a_very_long_prefix_" }, 16);
    const under = { maxLength: 16, reserved: new Set<string>(), claims };
    const list = [named("a", "b_x"), named("a", "x"), named("bare", "a_x", ""), named("bare", "x", "")];
    const names = finish(assignNames([...list, named("bare", "a_very_lo", "")], under));
    expect(names).toEqual(["a_b_x-0c3006", "a_x", "a_x-01a88c", "x", "a_very_lo-055712"]);
    expect(claims.of("a_very_lo-123abc")).toEqual(["long", "a", "bare"]);
    expect(claims.of("a_b_x")).toEqual(["a_b"]);
    expect(claims.of("nobody")).toEqual(["bare"]);
  });

  test("a name does not change because an unrelated server came", () => {
    fc.assert(
      fc.property(entries, (list) => {
        const known = list.map(asNamed);
        const before = finish(assignNames(known, options));
        const after = finish(assignNames([...known, named("unrelated", "tool")], options));
        expect(after.slice(0, -1)).toEqual(before);
      }),
    );
  });
});

describe("patterns", () => {
  test.each([
    ["*", "", true],
    ["*", "anything", true],
    ["delete_*", "delete_all", true],
    ["delete_*", "undelete_all", false],
    ["*_all", "delete_all", true],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["a*b*c", "aXXbYYc", true],
    ["a*b*c", "aXXbYY", false],
    ["a.c", "abc", false],
    ["", "", true],
    ["", "a", false],
    ["**", "a", true],
    ["a*", "a", true],
    ["?", "*", true],
    ["*a", "aba", true],
  ])("%s and %s: %s", (pattern, text, matches) => {
    expect(matchesGlob(pattern, text)).toBe(matches);
  });

  test("agree with a regular expression", () => {
    const unit = fc.constantFrom("a", "b", "*", "?");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 6 }), fc.string({ unit, maxLength: 8 }), (pattern, text) => {
        const source = [...pattern].map((c) => (c === "*" ? ".*" : c === "?" ? "." : c)).join("");
        expect(matchesGlob(pattern, text)).toBe(new RegExp(`^${source}$`, "s").test(text));
      }),
      { numRuns: 2000 },
    );
  });

  test("answer a pattern that would take for ever by trial", () => {
    expect(matchesGlob(`${"*a".repeat(200)}b`, "a".repeat(5000))).toBe(false);
  });
});

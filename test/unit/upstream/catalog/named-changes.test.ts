/**
 * A combined list that was made from the one before is the list that the same servers make from
 * nothing, whatever changed in between.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { finish } from "../../../../src/lib/timing/slices.ts";
import { nameClaims } from "../../../../src/mcp/identifiers/names.ts";
import type { NamedSource } from "../../../../src/upstream/catalog/candidates.ts";
import type { Definition } from "../../../../src/upstream/catalog/definitions.ts";
import { combineNamed, type NamedList } from "../../../../src/upstream/catalog/named.ts";
import { runs } from "../../../fixtures/thorough.ts";

const definition = (name: string, description: string): Definition => {
  const value = { name, description };
  return { value, text: JSON.stringify(value) };
};
const alias = { allow: ["*"], deny: [], overrides: { one: { alias: "uno" } } };
const policies = [{ allow: ["*"], deny: [], overrides: {} }, alias, { allow: ["*"], deny: ["two"], overrides: {} }];

/**
 * "a_" + "b_x" and "a_b_" + "x" are one name; "taken" is reserved for the gateway; the last one is
 * too long for any prefix.
 */
const names = ["one", "two", "x", "b_x", "a_one", "a_a_one", "taken", "a_name_that_is_cut"];
const prefixes: Record<string, string> = { a: "a_", ab: "a_b_", c: "c_", d: "", e: "" };
const claims = nameClaims(
  Object.entries(prefixes).map(([serverId, prefix]) => ({ serverId, prefix })),
  12,
);
const options = { maxLength: 12, reserved: new Set(["a_taken"]), claims };

/** What becomes of one server: another list, no list, or it goes to the end. */
const change = fc.record({
  serverId: fc.constantFrom(...Object.keys(prefixes)),
  what: fc.constantFrom("list", "list", "list", "gone", "last"),
  policy: fc.constantFrom(policies[0]!, policies[0]!, ...policies),
  repeatPrefix: fc.boolean(),
  tools: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 }),
});

function look(list: NamedList) {
  const asked = [...new Set([...names, ...list.entries.flatMap(({ exposed, name }) => [exposed, name, `a_${name}`])])];
  return {
    entries: list.entries.map(({ serverId, exposed, text }) => [serverId, exposed, text]),
    found: asked.map((name) => [name, list.find(name)?.exposed]),
    owners: asked.map((name) => [name, list.owners(name).map(({ serverId }) => serverId)]),
  };
}

it("is the same list, step by step", () => {
  let reused = 0;
  fc.assert(
    fc.property(fc.array(change, { minLength: 3, maxLength: 12 }), (changes) => {
      const servers = new Map<string, NamedSource>();
      let list: NamedList | undefined;
      for (const [step, { serverId, what, policy, repeatPrefix, tools }] of changes.entries()) {
        const source = servers.get(serverId);
        if (what !== "list") servers.delete(serverId);
        if (what === "last" && source) servers.set(serverId, source);
        if (what === "list") {
          const definitions = tools.map((name) => definition(name, `step ${step}`));
          servers.set(serverId, { serverId, prefix: prefixes[serverId]!, policy, repeatPrefix, definitions });
        }
        const sources = [...servers.values()];
        const changed = finish(combineNamed(sources, options, list));
        expect(look(changed)).toEqual(look(finish(combineNamed(sources, options))));
        if (list?.entries.some((entry) => changed.entries.includes(entry))) reused++;
        list = changed;
      }
    }),
    { numRuns: runs(300, 2000) },
  );
  expect(reused).toBeGreaterThan(runs(100, 1000));
});

it("nothing changed: the very same list", () => {
  const sources = [{ serverId: "a", prefix: "a_", definitions: [definition("one", "")] }];
  const list = finish(combineNamed(sources, options));
  expect(finish(combineNamed(sources, options, list))).toBe(list);
});

it("one server changed: the entries of the others are the ones that were there", () => {
  const still = { serverId: "a", prefix: "a_", definitions: [definition("one", "")] };
  const before = finish(
    combineNamed([still, { serverId: "c", prefix: "c_", definitions: [definition("x", "old")] }], options),
  );
  const after = finish(
    combineNamed([still, { serverId: "c", prefix: "c_", definitions: [definition("x", "new")] }], options, before),
  );
  expect(after.find("a_one")).toBe(before.find("a_one"));
  expect(after.find("c_x")?.text).toBe('{"name":"c_x","description":"new"}');
  expect(before.find("c_x")?.text).toBe('{"name":"c_x","description":"old"}');
});

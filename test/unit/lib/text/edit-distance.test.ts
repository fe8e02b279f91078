import fc from "fast-check";
import { expect, test } from "vitest";
import { createEditDistance } from "../../../../src/lib/text/nearest/edit-distance.ts";
import { nearestWord } from "../../../../src/lib/text/nearest/nearest-word.ts";

/** The whole table, without a band and without a limit. */
function plainDistance(a: string, b: string): number {
  const cost = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j;
    const best = Math.min(cost(i - 1, j) + 1, cost(i, j - 1) + 1, cost(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1));
    const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
    return isSwap ? Math.min(best, cost(i - 2, j - 2) + 1) : best;
  };
  return cost(a.length, b.length);
}

test("the distance is the plain one up to the limit, and infinite above it", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 });
  const distance = createEditDistance();
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 7 }), (a, b, limit) => {
      const plain = plainDistance(a, b);
      expect(distance(a, b, limit)).toBe(plain <= limit ? plain : Number.POSITIVE_INFINITY);
    }),
  );
});

test("words may be longer than the rows that it begins with", () => {
  const long = "x".repeat(1000);
  expect(createEditDistance()(long, `${long}y`, 2)).toBe(1);
  expect(createEditDistance()(long, `y${"x".repeat(999)}`, 300)).toBe(1);
});

test.each([
  ["urll", ["url", "env"], "url"],
  ["warning", ["warn", "error"], "warn"],
  ["subscriptions", ["subscriptionsPerClient", "sessions"], "subscriptionsPerClient"],
  ["ulr", ["env", "url"], "url"],
  ["nothing", ["url", "env"], undefined],
])("%s of %j is probably %s", (word, candidates, meant) => {
  expect(nearestWord(word, candidates)).toBe(meant);
});

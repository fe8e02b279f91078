import fc from "fast-check";
import { expect, test } from "vitest";
import { Shares } from "../../../../src/lib/structures/shares.ts";

const takeAll = (shares: Shares, holder: string, places: number): number => {
  let taken = 0;
  while (shares.take(holder, places)) taken++;
  return taken;
};

test("a party that takes all it can get has half of what the others leave, rounded up", () => {
  const shares = new Shares();
  expect(["a", "b", "c", "d"].map((holder) => takeAll(shares, holder, 10))).toEqual([5, 3, 1, 1]);
  expect([shares.total, takeAll(shares, "e", 10)]).toEqual([10, 0]);
  shares.giveBack("a");
  expect([shares.of("a"), takeAll(shares, "a", 10), takeAll(shares, "e", 10)]).toEqual([4, 0, 1]);
  expect([1, 2, 3].map((places) => takeAll(new Shares(), "alone", places))).toEqual([1, 1, 2]);
});

test("law: a place is left for a party without one, as long as fewer took part than could halve it", () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.boolean()), { maxLength: 400 });
  fc.assert(
    fc.property(fc.integer({ min: 64, max: 300 }), steps, (places, taken) => {
      const shares = new Shares();
      for (const [holder, takes] of taken) {
        if (takes) shares.take(`h${holder}`, places);
        else if (shares.of(`h${holder}`) > 0) shares.giveBack(`h${holder}`);
        expect(shares.total).toBe([0, 1, 2, 3, 4, 5].reduce((sum, n) => sum + shares.of(`h${n}`), 0));
      }
      expect(shares.take("new", places)).toBe(true);
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { Ring } from "../../../../src/lib/structures/ring.ts";

test("a ring has the newest items in their order, whatever is pushed and removed", () => {
  const steps = fc.array(fc.oneof(fc.integer(), fc.constant("shift" as const)), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), steps, (capacity, all) => {
      const ring = new Ring<number>(capacity);
      let model: number[] = [];
      for (const step of all) {
        if (step === "shift") expect(ring.shift()).toBe(model.shift());
        else {
          ring.push(step);
          model = [...model, step].slice(-capacity);
        }
        expect([ring.length, ring.items()]).toEqual([model.length, model]);
      }
    }),
  );
});

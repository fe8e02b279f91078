import fc from "fast-check";
import { expect, test } from "vitest";
import { Bag, type Placed } from "../../../../src/lib/structures/bag.ts";

interface Item extends Placed {
  readonly name: number;
}

test("a bag has what was added and not removed, whatever the order", () => {
  const steps = fc.array(fc.record({ name: fc.integer({ min: 0, max: 9 }), isAdded: fc.boolean() }), { maxLength: 80 });
  fc.assert(
    fc.property(steps, (all) => {
      const bag = new Bag<Item>();
      const items = Array.from({ length: 10 }, (_, name): Item => ({ name, place: -1 }));
      const model = new Set<number>();
      for (const { name, isAdded } of all) {
        if (!isAdded) bag.delete(items[name]!);
        else if (!model.has(name)) bag.add(items[name]!);
        if (isAdded) model.add(name);
        else model.delete(name);
        const names = bag.items().map((item) => item.name);
        expect([bag.size, names.toSorted()]).toEqual([model.size, [...model].toSorted()]);
      }
    }),
  );
});

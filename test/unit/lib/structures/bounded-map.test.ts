import { expect, test } from "vitest";
import { BoundedMap, BoundedSet } from "../../../../src/lib/structures/bounded-map.ts";

test("a bounded map drops its oldest key, and says which", () => {
  const dropped: [string, number][] = [];
  const map = new BoundedMap<string, number>(2, (key, value) => dropped.push([key, value]));
  map.set("a", 1).set("b", 2).set("a", 3);
  expect([[...map], dropped]).toEqual([
    [
      ["a", 3],
      ["b", 2],
    ],
    [],
  ]);
  map.set("c", 4);
  expect([[...map], dropped]).toEqual([
    [
      ["b", 2],
      ["c", 4],
    ],
    [["a", 3]],
  ]);
});

test("a bounded set drops its oldest value", () => {
  const set = new BoundedSet<string>(2);
  set.add("a").add("b").add("a").add("c");
  expect([...set]).toEqual(["b", "c"]);
});

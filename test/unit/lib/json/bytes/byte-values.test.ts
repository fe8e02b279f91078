import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { elementsOf, membersOf, skipLong, skipShort } from "../../../../../src/lib/json/bytes/byte-values.ts";
import { finish } from "../../../../../src/lib/timing/slices.ts";

test("the end of any value is found, at once or in slices", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom("", " ", "\n", ",", "]", "}"), fc.boolean(), (json, after, isSpaced) => {
      const text = isSpaced ? JSON.stringify(JSON.parse(json), null, 2) : json;
      const bytes = Buffer.from(text + after);
      const end = Buffer.byteLength(text);
      expect(finish(skipLong(bytes, 0))).toBe(end);
      if (end < 4096) expect(skipShort(bytes, 0)).toBe(end);
    }),
  );
});

describe("strings of any length", () => {
  test.each(["x", '\\"', "\\\\", '\\\\\\"', "é", "\\u0022", "[", "{,"])("of %s", (unit) => {
    for (const count of [0, 1, 15, 16, 31, 32, 33, 4095, 4096, 4097, 100_000]) {
      const text = JSON.stringify(JSON.parse(`"${unit.repeat(count)}"`));
      const bytes = Buffer.from(`${text},"next"`);
      const end = Buffer.byteLength(text);
      expect(finish(skipLong(bytes, 0))).toBe(end);
      expect([end, -1]).toContain(skipShort(bytes, 0));
    }
  });
});

test("members and elements are found where they are", () => {
  const text = ' { "a" : [ 1 , {"b":2} ] , "c\\u0064" : "x" , "a" : 3 } '.trim();
  const bytes = Buffer.from(text);
  const found = finish(membersOf(bytes, 0, ["a", "cd", "e"])).map((span) => span && text.slice(span.start, span.end));
  expect(found).toEqual(["3", '"x"', undefined]);
  const list = Buffer.from(`[ 1 , [2], "${"x".repeat(10_000)}" ,{} ]`);
  const elements = finish(elementsOf(list, 0, 10)).map(({ start, end }) => list.toString("utf8", start, end));
  expect(elements).toEqual(["1", "[2]", `"${"x".repeat(10_000)}"`, "{}"]);
  expect(finish(elementsOf(list, 0, 2))).toHaveLength(2);
  expect(finish(elementsOf(Buffer.from("[]"), 0, 2))).toEqual([]);
  expect(finish(elementsOf(Buffer.from("{}"), 0, 2))).toEqual([]);
});

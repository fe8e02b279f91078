/** The canonical form of JSON, on which digests and the identity of questions rest. */
import { describe, expect, test } from "vitest";
import { canonical, unambiguous } from "../../../../src/lib/json/canonical.ts";

describe("the canonical form", () => {
  test.each([
    ['{ "b" : 1, "a" : [ true , null ] }', '{"a":[true,null],"b":1}'],
    ['{"\\u0061":"\\u00e9\\/\\n"}', '{"a":"é/\\n"}'],
    ['{"n":12345678901234567890,"m":1.0,"k":1e3,"z":-0}', '{"k":1e3,"m":1.0,"n":12345678901234567890,"z":-0}'],
    ['{"a":{"d":1,"c":{"f":[],"e":{}}}}', '{"a":{"c":{"e":{},"f":[]},"d":1}}'],
    ['"\\ud800"', '"\\ud800"'],
    ['{"__proto__":1,"":2}', '{"":2,"__proto__":1}'],
    ["[ ]", "[]"],
  ])("of %s", (text, form) => {
    expect(unambiguous(text)).toBe(form);
    expect([unambiguous(form), canonical(text), canonical(form)]).toEqual([form, form, form]);
    expect(JSON.parse(form)).toEqual(JSON.parse(text));
  });

  test("keeps apart what readers may keep apart", () => {
    const texts = [
      "1",
      "1.0",
      "1e0",
      "10e-1",
      '"1"',
      "[1]",
      '{"1":1}',
      '"\\u00e9"',
      '"e\\u0301"',
      '"1 "',
      "null",
      '""',
    ];
    expect(new Set(texts.map(unambiguous)).size).toBe(texts.length);
    expect(unambiguous('["a","b"]')).not.toBe(unambiguous('["b","a"]'));
  });

  test("keeps a member that comes twice, or refuses it", () => {
    for (const text of ['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '{"x":[{"a":1,"b":2,"a":3}]}'])
      expect(() => unambiguous(text)).toThrow("appears twice in an object");
    expect(canonical('{"b":1,"a":1,"\\u0061":2}')).toBe('{"a":1,"a":2,"b":1}');
    expect(unambiguous('[{"a":1},{"a":1}]')).toBe('[{"a":1},{"a":1}]');
    expect(unambiguous("[".repeat(500) + "]".repeat(500))).toHaveLength(1000);
    expect(unambiguous(`[${"[[[]]],".repeat(400)}[]]`)).toHaveLength(2804);
    expect(() => unambiguous("[".repeat(600) + "]".repeat(600))).toThrow("nested too deeply");
  });
});

import { describe, expect, test } from "vitest";
import { compilePatterns, PatternSyntaxError } from "../../../../../src/lib/json/bytes/field-patterns.ts";
import { fieldsOf, keepFields, withoutSpaces } from "../../../../../src/lib/json/bytes/shape-json.ts";
import { finish } from "../../../../../src/lib/timing/slices.ts";

const kept = (text: string, { pick = [] as string[], drop = [] as string[] }): string =>
  finish(keepFields(Buffer.from(text), text.search(/\S/), fieldsOf(pick, drop)))?.toString() ?? text;

const list = '{"total":12345678901234567890,"items":[{"id":1.0,"title":"a","user":{"login":"x","id":7}},{"id":-0}]}';

describe("pick", () => {
  test.each([
    [["items[].{id,title}"], '{"items":[{"id":1.0,"title":"a"},{"id":-0}]}'],
    [["total"], '{"total":12345678901234567890}'],
    [["total", "items[].user.login"], '{"total":12345678901234567890,"items":[{"user":{"login":"x"}},{}]}'],
    [["items[].user"], '{"items":[{"user":{"login":"x","id":7}},{}]}'],
    [["**.id"], '{"items":[{"id":1.0,"user":{"id":7}},{"id":-0}]}'],
    [["*"], list],
    [["**"], list],
    [["nothing"], "{}"],
    [["items.id"], '{"items":[]}'],
    [['"items"[].{"id"}'], '{"items":[{"id":1.0},{"id":-0}]}'],
  ])("%s", (pick, expected) => {
    expect(kept(list, { pick })).toBe(expected);
  });

  test("keeps what is no object or array, and elements of arrays at the top", () => {
    expect(kept("12.50", { pick: ["a"] })).toBe("12.50");
    expect(kept('[{"a":1,"b":2},3,[{"a":4}]]', { pick: ["[].a"] })).toBe('[{"a":1},[]]');
    expect(kept('[{"a":1,"b":2},3,[{"a":4}]]', { pick: ["**.a"] })).toBe('[{"a":1},[{"a":4}]]');
  });
});

describe("drop", () => {
  test.each([
    [["**.id"], '{"total":12345678901234567890,"items":[{"title":"a","user":{"login":"x"}},{}]}'],
    [["items"], '{"total":12345678901234567890}'],
    [["items[].user", "total"], '{"items":[{"id":1.0,"title":"a"},{"id":-0}]}'],
    [["items[]"], '{"total":12345678901234567890,"items":[]}'],
    [["nothing"], list],
  ])("%s", (drop, expected) => {
    expect(kept(list, { drop })).toBe(expected);
  });

  test("goes before pick", () => {
    expect(kept(list, { pick: ["items[].user"], drop: ["**.login"] })).toBe('{"items":[{"user":{"id":7}},{}]}');
  });
});

test("names are compared by their value, in any spelling and script", () => {
  expect(kept('{"\\u0061":1,"é":2,"\\u00e9":3,"日本":4,"x":"é\\u00e9"}', { drop: ["a", "é", "日本"] })).toBe(
    '{"x":"é\\u00e9"}',
  );
  expect(kept('{"a.b":{"c d":1,"e":2}}', { pick: ['"a.b"."c d"'] })).toBe('{"a.b":{"c d":1}}');
});

test("where nothing is left out, nothing is written", () => {
  const work = keepFields(Buffer.from('{ "a" : [ 1 ] }'), 0, fieldsOf(["**"], ["b"]));
  expect(finish(work)).toBeUndefined();
});

test("thousands of levels are no problem", () => {
  const deep = `${'{"a":['.repeat(4000)}1${"]}".repeat(4000)}`;
  expect(kept(deep, { drop: ["**.b"] })).toBe(deep);
  expect(kept(deep, { drop: ["a[].a"] })).toBe('{"a":[{}]}');
});

test.each(["", ".", "a.", "a..b", "[0]", "a[", "{a", "{a,}", "a b", "a]", "{a}b", '"a', "a{b}"])(
  "%j is no pattern",
  (pattern) => {
    expect(() => compilePatterns([pattern])).toThrow(PatternSyntaxError);
  },
);

test("spaces go between tokens, not within strings", () => {
  const compact = (text: string): string =>
    finish(withoutSpaces(Buffer.from(text), { start: 0, end: Buffer.byteLength(text) })).toString();
  expect(compact('{ "a b" :\t[ 1 ,\r\n 2.50 , "x  \\" y" ] , "é" : null }')).toBe(
    '{"a b":[1,2.50,"x  \\" y"],"é":null}',
  );
  expect(compact('{"a":1}')).toBe('{"a":1}');
  const large = JSON.stringify(Array.from({ length: 50_000 }, (_, i) => ({ i })));
  expect(compact(JSON.stringify(JSON.parse(large), null, 2))).toBe(large);
});

/** Parsing in slices: the same values and the same refusals as `JSON.parse`. */
import { expect, test } from "vitest";
import { LONG_LEVELS, parseInSlices, TooDeep } from "../../../../src/lib/json/json-parse.ts";
import { finish } from "../../../../src/lib/timing/slices.ts";

const parse = (text: string, run?: number): unknown => finish(parseInSlices(Buffer.from(text), run ? { run } : {}));

function outcome(parsed: () => unknown): unknown {
  try {
    // As text, which shows the order of members.
    return JSON.stringify(parsed());
  } catch (error) {
    return error instanceof SyntaxError ? "not valid" : error;
  }
}

const texts = [
  ..."{} [] [1] [,] [1,] [1,,2] [,1] [[],[]] [[],,[]] [1]] [[1] {] [} [1}".split(" "),
  '{"a":1}',
  '{"a":1,}',
  '{"a":{"b":[1,2,{"c":"d"}]},"e":[]}',
  '{"a":[1,2,3],"a":[4,5,6],"a":7}',
  '{"__proto__":{"x":[1,2,3,4,5]},"b":1}',
  '{"b":[0,0,0,0,0,0],"__proto__":1,"constructor":2}',
  '{"long key with \\" and \\\\":[[1,2,3,4],[5,6,7,8]]}',
  '  [ [ 1 , 2 ] , { "a" : [ ] } ]  ',
  '["\\\\","\\"","[","]",",",{"}":"{"}]',
  '[[1,2,3,4,5,6]"a"]',
  "[[1,2,3,4,5,6]1]",
  '{"a"[1,2,3,4,5,6,7,8]}',
  '{"a":1 [1,2,3,4,5,6,7,8]}',
  "{1:[1,2,3,4,5,6,7,8]}",
  "[1 [2,3,4,5,6,7,8,9]]",
  '{"2":1,"1":[1,2,3,4,5],"x":{"é中😀":"😀"}}',
  '["unclosed',
  '{"a":[1,2,3,4',
  "[1,2,3] x",
  "[1,2,3],",
  "",
  "  ",
  "7",
  '"text"',
  "nul",
  "\ufeff[]",
  "[\u00a01]",
  "[1,2,\u000b3,4,5,6]",
];

test.for([1, 2, 3, 7, 16, 64])("runs of %i bytes give what JSON.parse gives", (run) => {
  for (const text of texts)
    expect([text, outcome(() => parse(text, run))]).toEqual([text, outcome(() => JSON.parse(text))]);
});

test("every change of one byte gives what JSON.parse gives", () => {
  const text = '{"a":[{"b":[1,[],{}]},"c,",[[[2]]]],"d":{"e":{"f":null}}}';
  for (let at = 0; at < text.length; at++) {
    for (const other of ["", ",", "]", "}", "[", "{", '"', ":", " ", "\\", "1"]) {
      const changed = text.slice(0, at) + other + text.slice(at + 1);
      for (const run of [1, 5, 12]) {
        expect([changed, run, outcome(() => parse(changed, run))]).toEqual([
          changed,
          run,
          outcome(() => JSON.parse(changed)),
        ]);
      }
    }
  }
});

test("a text of many small values has many steps, and one long string has few", () => {
  const steps = (text: string): number => [...parseInSlices(Buffer.from(text))].length;
  expect(steps(`{"a":[${"[],".repeat(300_000)}1]}`)).toBeGreaterThan(20);
  expect(steps(`{"a":"${"x".repeat(900_000)}"}`)).toBeLessThan(5);
});

test("containers are counted once, before they are made", () => {
  let count = 0;
  const text = `{"a":{"b":[${"[],".repeat(50_000)}{}]}}`;
  finish(parseInSlices(Buffer.from(text), { onContainers: (more) => (count += more) }));
  expect(count).toBe(50_003);
});

test("a text whose bulk is too many levels down is refused as such; deep nesting alone is not", () => {
  const deep = (levels: number, inner: string): string => "[".repeat(levels) + inner + "]".repeat(levels);
  const bulk = `${"1,".repeat(40_000)}1`;
  expect(() => parse(deep(LONG_LEVELS + 1, bulk))).toThrow(TooDeep);
  expect(outcome(() => parse(deep(LONG_LEVELS - 2, bulk)))).toBe(deep(LONG_LEVELS - 2, bulk));
  expect(outcome(() => parse(`[${bulk},${deep(3000, "")}]`))).toBe(`[${bulk},${deep(3000, "")}]`);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scanInSlices, scanValue } from "../../../../src/lib/json/json-scan.ts";

const scan = (text: string | Buffer, from = 0): number => scanValue(Buffer.from(text as string), from);

/** Whether the text is one JSON value and nothing else, as the platform sees it. */
function isValue(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** One for each way that a string is passed over. */
const pads = { short: "", middle: "x".repeat(100), long: "x".repeat(1000), huge: "é".repeat(100_000) };

test.each([
  "{}",
  "[]",
  '""',
  "0",
  "-0",
  "1.5e+10",
  "1E5",
  "true",
  "false",
  "null",
  '{"a":[1,{"b":null}],"c":"\\u00e9\\n\\\\\\"\\/"}',
  '{ "a" : [ 1 ,\n\t2 ] ,\r "b" : { } }',
  '"\\ud800"',
])("%s ends where it ends", (text) => {
  expect(scan(text)).toBe(text.length);
  expect(scan(`${text},"id":1}`)).toBe(text.length);
  expect(scan(`xy${text}]`, 2)).toBe(text.length + 2);
});

describe.each(Object.entries(pads))("around a %s string", (_, pad) => {
  test.each([
    "tru",
    "nul",
    "falsy",
    "True",
    "NaN",
    "01",
    "-",
    "1.",
    ".5",
    "+1",
    "1e",
    "1e+",
    "0x1",
    '"\\q"',
    '"\\u12g4"',
    '"\\',
    '"\\"',
    '"\\u123',
    '"\u0000"',
    '"\u0001"',
    '"\u001f"',
    '"\t"',
    '"\n"',
    "[1,]",
    "[,1]",
    "[1 2]",
    "[1",
    "[",
    "{",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a":1 "b":2}',
    "{a:1}",
    "{1:2}",
    '{"a":1]',
    "[1}",
    "\ufeff1",
    "\u00a01",
    "'a'",
    "",
    "/**/1",
  ])("%j is no value", (bad) => {
    expect(scan(`["${pad}",${bad}]`)).toBe(-1);
    expect(scan(`{"${pad}":${bad}}`)).toBe(-1);
    if (bad !== "") expect(scan(`{"a":"${pad}","b":[${bad},"${pad}"]}`)).toBe(-1);
  });

  test("bytes that are not UTF-8 are no value", () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0x80]]) {
      expect(scan(Buffer.concat([Buffer.from(`["${pad}`), Buffer.from(bytes), Buffer.from(`${pad}"]`)]))).toBe(-1);
    }
  });

  test("an escape at any distance from the quote", () => {
    for (let n = 0; n < 140; n++) {
      const text = `["${pad}${"y".repeat(n)}\\"${"z".repeat(n)}\\\\","\\u0041${"z".repeat(n)}"]`;
      expect(scan(text)).toBe(Buffer.byteLength(text));
      expect(scan(text.replace("\\u", "\\U"))).toBe(-1);
    }
  });
});

test("levels are counted, not recursed into", () => {
  const deep = (n: number) => `${"[".repeat(n)}${"]".repeat(n)}`;
  const deepObject = (n: number) => `${'{"a":'.repeat(n)}1${"}".repeat(n)}`;
  expect(scan(deep(10_000))).toBe(20_000);
  expect(scan(deep(10_001))).toBe(-1);
  expect(scan(deepObject(10_000))).toBe(60_001);
  expect(scan(deepObject(10_001))).toBe(-1);
  expect(scan("[".repeat(5_000_000))).toBe(-1);
});

test("every JSON value passes, whatever the spacing", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t"), (value, space) => {
      const text = JSON.stringify(value, null, space);
      expect(scan(text)).toBe(Buffer.byteLength(text));
    }),
    { numRuns: 500 },
  );
});

test("of values that were changed at random, those pass that JSON.parse takes", () => {
  const pieces = [
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "0",
    "-",
    ".",
    "e",
    "t",
    "\n",
    "\u0002",
    " ",
    "\\u",
    "é",
    "\u2028",
  ];
  const seen = { yes: 0, no: 0 };
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 3 }),
      fc.nat(),
      fc.constantFrom(0, 1, 2),
      fc.constantFrom(...pieces),
      fc.constantFrom("", "x".repeat(700)),
      (value, place, cut, piece, pad) => {
        const whole = JSON.stringify([value, pad, true, 1.5e-7]);
        const at = place % whole.length;
        const text = whole.slice(0, at) + piece + whole.slice(at + cut);
        const valid = isValue(text);
        seen[valid ? "yes" : "no"]++;
        // What `JSON.parse` lets stand around a value is not part of the value.
        const from = text.length - text.trimStart().length;
        expect(scan(text, from) === Buffer.byteLength(text.trimEnd())).toBe(valid);
      },
    ),
    { numRuns: 4000 },
  );
  expect(Math.min(seen.yes, seen.no)).toBeGreaterThan(200);
});

test("a long string with escapes is searched once, however often the scan pauses", () => {
  const bytes = Buffer.from(JSON.stringify("line\n".repeat(500_000)));
  const part = bytes.subarray.bind(bytes);
  let searched = 0;
  bytes.subarray = (from, to) => {
    const taken = part(from, to);
    searched += taken.length;
    return taken;
  };
  const slices = scanInSlices(bytes, 0);
  let pauses = 0;
  let step = slices.next();
  for (; !step.done; step = slices.next()) pauses++;
  expect(step.value?.end).toBe(bytes.length);
  expect(pauses).toBeGreaterThan(20);
  expect(searched).toBeGreaterThan(bytes.length / 2);
  expect(searched).toBeLessThanOrEqual(bytes.length);
});

test("a string is read as JSON.parse reads it, wherever a window begins or ends in it", () => {
  const inside = ["x", "\\n", '\\"', "\\\\", "\\u00e9", "\\/", "é", "😀", "\\u12", "\\x", "\n", "\u0000", '"', "\\"];
  const NEAR = 16;
  const WINDOW = 64 * 1024;
  for (const edge of [NEAR, WINDOW, NEAR + WINDOW, NEAR + 2 * WINDOW]) {
    for (let shift = -8; shift <= 8; shift++) {
      for (const piece of inside) {
        const text = `["${"x".repeat(edge + shift)}${piece}${"y".repeat(5000)}","z"]`;
        const expected = isValue(text) ? Buffer.byteLength(text) : -1;
        expect(scan(text), `${JSON.stringify(piece)} at ${edge + shift}`).toBe(expected);
      }
    }
  }
});

test("a long string is read as JSON.parse reads it, with escapes and between indented lines", () => {
  for (const inside of [
    "x".repeat(200_000),
    "line\\n".repeat(40_000),
    "x\\ty".repeat(50_000),
    "\\u00e9".repeat(20_000),
  ]) {
    for (const [before, after] of [
      ["", ""],
      ["\n  ", "\n"],
      [`"short",\n\t${'"also short",\n\t'.repeat(5000)}`, `,\n\t${'"short"'}`],
    ]) {
      const text = `[${before}"${inside}"${after}]`;
      expect(scan(text)).toBe(Buffer.byteLength(text));
      expect(scan(text.replace(`${inside}"`, `${inside}\n"`))).toBe(-1);
      expect(scan(text.replace(`${inside}"`, `${inside}\\x"`))).toBe(-1);
    }
  }
});

test("each character ends a long string or does not as in JSON.parse, at every place of a word", () => {
  for (let code = 0; code < 0x200; code++) {
    for (let place = 0; place < 8; place++) {
      const text = `["${"x".repeat(600 + place)}${String.fromCharCode(code)}${"y".repeat(9)}"]`;
      expect(scan(text), `${code} at ${place}`).toBe(isValue(text) ? Buffer.byteLength(text) : -1);
    }
  }
});

import fc from "fast-check";
import { expect, test } from "vitest";
import {
  byteForm,
  byteKey,
  escapeInSlices,
  joinInSlices,
  unescapeInSlices,
} from "../../../../../src/lib/json/bytes/json-bytes.ts";
import { finish } from "../../../../../src/lib/timing/slices.ts";

const escaped = (text: string): string => Buffer.concat(finish(escapeInSlices(Buffer.from(text)))).toString();

const unescaped = (written: string): string => {
  const bytes = Buffer.from(`[${written}]`);
  return finish(unescapeInSlices(bytes, { start: 1, end: bytes.length - 1 })).toString();
};

test("strings are read as JSON.parse reads them, and written as it reads them back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const plain = JSON.stringify(text);
      const spelledOut = `"${[...plain.slice(1, -1)].map(spelled).join("")}"`;
      expect(unescaped(plain)).toBe(text);
      expect(unescaped(spelledOut)).toBe(text);
      expect(JSON.parse(escaped(text))).toBe(text);
    }),
  );
});

/** Each character that is no part of an escape, as an escape. */
function spelled(character: string): string {
  if (/[\\"\x20-\x7e]/.test(character)) return character;
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

test("long strings of any kind", () => {
  for (const unit of ["\\u0041", "\\n", "é", "\\ud83d\\ude00", '\\"', "x"]) {
    const written = `"${unit.repeat(100_000)}"`;
    expect(unescaped(written)).toBe(JSON.parse(written));
    const text = JSON.parse(written) as string;
    expect(JSON.parse(escaped(text))).toBe(text);
  }
});

test("half a pair becomes a replacement character", () => {
  expect(unescaped('"a\\ud83db\\ude00"')).toBe("a\ufffdb\ufffd");
});

test("a key has one form, however it is written", () => {
  for (const written of ['"\\u00e9"', '"é"']) {
    const bytes = Buffer.from(written);
    expect(byteKey(bytes, { start: 0, end: bytes.length })).toBe(byteForm("é"));
  }
});

test("large parts are joined", () => {
  const parts = [Buffer.alloc(3_000_000, "a"), Buffer.alloc(0), Buffer.from("b"), Buffer.alloc(2_500_000, "c")];
  expect(finish(joinInSlices(parts)).equals(Buffer.concat(parts))).toBe(true);
  expect(finish(joinInSlices([])).length).toBe(0);
});

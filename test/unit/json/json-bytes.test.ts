import fc from "fast-check";
import { expect, test } from "vitest";
import { byteForm, byteKey, escapeInSlices, jsonBytes, unescapeInSlices } from "../../../src/json/json-bytes.ts";
import { finish } from "../../../src/timing/slices.ts";

const unescaped = (written: string): string => {
  const json = jsonBytes(`[${written}]`);
  return finish(unescapeInSlices(json, { start: 1, end: json.bytes.length - 1 })).toString();
};

test("strings are read as JSON.parse reads them, and written as it reads them back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const plain = JSON.stringify(text);
      const escaped = `"${[...plain.slice(1, -1)].map(spelled).join("")}"`;
      expect(unescaped(plain)).toBe(text);
      expect(unescaped(escaped)).toBe(text);
      expect(JSON.parse(finish(escapeInSlices(Buffer.from(text))).toString())).toBe(text);
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
    expect(JSON.parse(finish(escapeInSlices(Buffer.from(text))).toString())).toBe(text);
  }
});

test("half a pair becomes a replacement character", () => {
  expect(unescaped('"a\\ud83db\\ude00"')).toBe("a\ufffdb\ufffd");
});

test("a key has one form, however it is written", () => {
  for (const written of ['"\\u00e9"', '"é"']) {
    const json = jsonBytes(written);
    expect(byteKey(json, { start: 0, end: json.bytes.length })).toBe(byteForm("é"));
  }
});

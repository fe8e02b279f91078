/** Long strings are skipped by WebAssembly or by a loop. Both must stop at the same byte. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scanValue } from "../../../../src/lib/json/json-scan.ts";
import { createSkipper, type Skipper, skipper, type Wasm } from "../../../../src/lib/json/long-strings.ts";

const { WebAssembly } = globalThis as { WebAssembly?: Wasm };
const vectors = createSkipper(WebAssembly);
const loop = createSkipper(undefined);

function skipped({ window, skip }: Skipper, bytes: Uint8Array, at = 0): number {
  window.set(bytes);
  return skip(at, bytes.length);
}

test("WebAssembly is used where there is some", () => {
  expect([vectors.skip.toString(), skipper().skip.toString()]).toEqual([
    "function 0() { [native code] }",
    "function 0() { [native code] }",
  ]);
  expect(loop.skip.toString()).not.toContain("native code");
  expect([vectors.window.length, loop.window.length]).toEqual([65_536, 65_536]);
});

describe.each([
  ["vectors", vectors],
  ["the loop", loop],
])("%s", (_, one) => {
  test("every byte, at every place of a block", () => {
    for (let byte = 0; byte < 256; byte++) {
      const isPlain = byte >= 0x20 && byte !== 0x22 && byte !== 0x5c;
      for (let place = 0; place < 40; place++) {
        const bytes = new Uint8Array(45).fill(0x78);
        bytes[place] = byte;
        // A backslash and an x are no escape.
        expect(skipped(one, bytes), `${byte} at ${place}`).toBe(isPlain ? 45 : place);
      }
    }
  });

  test("every byte after a backslash", () => {
    const short = new Set([...'"\\bfnrt'].map((c) => c.charCodeAt(0)));
    for (let byte = 0; byte < 256; byte++) {
      for (const place of [0, 13, 14, 15, 16, 30, 38]) {
        const bytes = new Uint8Array(40).fill(0x78);
        bytes.set([0x5c, byte], place);
        expect(skipped(one, bytes), `${byte} at ${place}`).toBe(short.has(byte) ? 40 : place);
      }
    }
  });

  test("an escape that is cut is left to the caller", () => {
    expect(skipped(one, Buffer.from("abc\\"))).toBe(3);
    expect(skipped(one, Buffer.from(`${"x".repeat(16)}\\`))).toBe(16);
  });

  test("it begins where it is told to, and ends there", () => {
    expect(skipped(one, Buffer.from('"ab"'), 1)).toBe(3);
    expect(skipped(one, Buffer.from("abc"), 3)).toBe(3);
    one.window.set(Buffer.from(`${"x".repeat(40)}"`));
    expect(one.skip(0, 39)).toBe(39);
  });
});

test("both stop at the same byte, whatever the bytes are", () => {
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("x", "é", "漢", "😀", "plain text of some length ") },
    { weight: 2, arbitrary: fc.constantFrom("\\n", '\\"', "\\\\", "\\t", "\\r", "\\b", "\\f") },
    { weight: 1, arbitrary: fc.constantFrom("\\/", "\\u0041", '"', "\\", "\u0000", "\u001f", "\u007f", "\\x") },
  );
  let stopped = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 200 }), fc.nat(20), (pieces, at) => {
      const bytes = Buffer.from(pieces.join(""));
      const from = Math.min(at, bytes.length);
      const end = skipped(vectors, bytes, from);
      if (end < bytes.length) stopped++;
      expect(end).toBe(skipped(loop, bytes, from));
    }),
    { numRuns: 2000 },
  );
  expect(stopped).toBeGreaterThan(200);
});

test("a string is read as JSON.parse reads it, wherever a window ends in it", () => {
  const inside = ["x", "\\n", '\\"', "\\\\", "\\u00e9", "\\/", "é", "😀", "\\u12", "\\x", "\n", "\u0000", '"', "\\"];
  for (let shift = -8; shift <= 8; shift++) {
    const pad = "x".repeat(64 * 1024 + 16 + shift);
    for (const piece of inside) {
      const text = `["${pad}${piece}${"y".repeat(20)}","z"]`;
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      expect(scanValue(Buffer.from(text), 0), `${JSON.stringify(piece)} at ${shift}`).toBe(
        valid ? Buffer.byteLength(text) : -1,
      );
    }
  }
});

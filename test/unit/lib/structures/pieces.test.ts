/** Bytes in chunks of every size come out as they went in. */
import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { Pieces } from "../../../../src/lib/structures/pieces.ts";

const MB = 1024 * 1024;
const source = randomBytes(19 * MB + 7);
const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

test.each([
  ["one chunk", [source.length]],
  ["chunks of 64 kB", [64 * 1024]],
  ["chunks of 100 bytes and of 9 kB", [100, 9 * 1024]],
  ["a chunk of 5 MB and small ones", [5 * MB, 3, 3, 3]],
  ["small ones and chunks of 5 MB", [3, 5 * MB]],
])("%s", (_name, sizes) => {
  const pieces = new Pieces();
  for (const copies of [false, true]) {
    for (let from = 0, n = 0; from < source.length; n++) {
      const chunk = source.subarray(from, from + sizes[n % sizes.length]!);
      if (copies) pieces.addCopy(chunk);
      else pieces.add(chunk);
      from += chunk.length;
    }
    expect(pieces.size).toBe(source.length);
    expect(pieces.head(5)).toBe(source.toString("latin1", 0, 5));
    expect(digest(pieces.take())).toBe(digest(source));
    expect([pieces.size, pieces.take().length]).toEqual([0, 0]);
  }
});

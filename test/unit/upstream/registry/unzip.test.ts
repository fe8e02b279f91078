import { expect, test } from "vitest";
import { unzip } from "../../../../src/upstream/registry/unzip.ts";
import { zip } from "../../../cli/servers-scene.ts";

const archive = zip({ "manifest.json": "{}", "server/index.js": "x".repeat(1000) });
const CENTRAL = Buffer.from([0x50, 0x4b, 1, 2]);

/** The archive with a number in its first central record changed. */
function changed(offset: number, value: number, bytes: 2 | 4): Buffer {
  const copy = Buffer.from(archive);
  copy.writeUIntLE(value, copy.indexOf(CENTRAL) + offset, bytes);
  return copy;
}

test("files are read with their paths", () => {
  const read = unzip(archive).map(({ path, bytes }) => [path, bytes.length]);
  expect(read).toEqual([
    ["manifest.json", 2],
    ["server/index.js", 1000],
  ]);
});

test.each([
  ["a file that is stored and claims another size", changed(10, 0, 2)],
  ["a file that ends after the archive", changed(20, 1_000_000, 4)],
  ["a file that begins after the archive", changed(42, 1_000_000, 4)],
  ["a list that begins after the archive", changed(-1, 0, 2).fill(0xff, archive.length - 6, archive.length - 2)],
])("%s is damage, in words", (_what, bytes) => {
  expect(() => unzip(bytes)).toThrow("the zip archive is damaged");
});

test("a file that unpacks to more than it says is refused", () => {
  expect(() => unzip(changed(24, 1, 4))).toThrow();
});

test("a cut archive is refused in words, wherever it is cut", () => {
  // The last two bytes are the length of a comment.
  for (let length = 0; length < archive.length - 2; length++) {
    expect(() => unzip(archive.subarray(0, length))).toThrow("zip archive");
  }
});

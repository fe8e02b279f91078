/** The page stays small: all that a browser loads, compressed. */
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

test("the whole page is at most 80 kB, compressed", () => {
  const folder = new URL("../../../../bundle/page/", import.meta.url);
  const files = readdirSync(folder);
  expect(files.sort()).toEqual(["icon.svg", "index.html", "page.js", "style.css"]);
  const sizes = files.map((file) => gzipSync(readFileSync(new URL(file, folder))).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(80_000);
});

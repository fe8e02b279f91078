/** The table of defects is whole, and what it names is there. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { defects } from "./defects.ts";
import type { Proof } from "./proof.ts";
import { namePattern } from "./selection.ts";

const root = new URL("../../", import.meta.url);
const numbered = (letter: string, last: number): string[] =>
  Array.from({ length: last }, (_, i) => `${letter}${i + 1}`);

/** As the file writes it: behind a bracket, in quotes of whatever kind. */
function isThere({ file, title }: Proof): boolean {
  const path = new URL(file, root);
  if (!existsSync(path)) return false;
  const text = readFileSync(path, "utf8");
  return ['"', "'", "`"].some(
    (quote) => text.includes(`(${quote}${title}${quote},`) || text.includes(`  ${quote}${title}${quote},\n`),
  );
}

test("every defect is in the table, once", () => {
  const ids = defects.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => /^[HML]/.test(id))).toEqual([
    ...numbered("H", 7),
    ...numbered("M", 11),
    ...numbered("L", 11),
  ]);
});

describe.each(defects)("$id: $what", ({ tests }) => {
  test("has a test", () => {
    expect(tests).not.toEqual([]);
  });

  test("its tests are where the table says", () => {
    expect(tests.filter((proof) => !isThere(proof))).toEqual([]);
  });
});

test("a pattern finds the tests of the table and no others", () => {
  const file = "a.test.ts";
  const pattern = namePattern([
    {
      id: "X",
      what: "",
      tests: [
        { file, title: "%s is (not) $kind, ${size}" },
        { file, title: "%s", of: "weak" },
      ],
    },
  ]);
  const names = ["this is (not) good, 5", "group this is (not) good, 5", "golden weak", "golden weaker", "is (not)"];
  expect(names.filter((name) => pattern.test(name))).toEqual(names.slice(0, 3));
});

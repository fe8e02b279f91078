// What the conformance run holds against Goblin: a check that comes out worse than without it is
// found, one that is listed is not, and a list that is longer than the truth is found too.
// docs/conformance.md holds that list.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

type Check = { status: string; message: string };
type Score = { checks: Map<string, Check> };
type Expected = { reason: string; cells: string[]; checks: string[] };
interface Checks {
  differences(direct: Score, through: Score): Map<string, Check>;
  judge(cell: string, found: Map<string, Check>, expected: Expected[]): { unexpected: string[]; stale: string[] };
  differencesText(expected: Expected[]): string;
}

const { differences, differencesText, judge } = (await import(new URL("./checks.js", import.meta.url).href)) as Checks;

const score = (statuses: Record<string, string>): Score => ({
  checks: new Map(Object.entries(statuses).map(([name, status]) => [name, { status, message: "" }])),
});
const names = (found: Map<string, Check>): string[] => [...found.keys()];

describe("differences", () => {
  test("a pass that is lost is one, whatever became of it", () => {
    const direct = score({ a: "SUCCESS", b: "SUCCESS", c: "SUCCESS", d: "SUCCESS", e: "SUCCESS" });
    const through = score({ a: "SUCCESS", b: "FAILURE", c: "WARNING", d: "INFO" });
    expect(names(differences(direct, through))).toEqual(["b", "c", "d", "e"]);
  });

  test("what did not pass directly differs only when it gets worse", () => {
    const direct = score({ a: "WARNING", b: "INFO", c: "SKIPPED", d: "WARNING", e: "INFO" });
    const through = score({ a: "FAILURE", b: "WARNING", c: "SUCCESS", d: "WARNING" });
    expect(names(differences(direct, through))).toEqual(["a", "b"]);
  });

  test("a failure that does not occur directly counts", () => {
    expect(names(differences(score({}), score({ a: "FAILURE", b: "INFO", c: "SUCCESS" })))).toEqual(["a"]);
  });
});

describe("judge", () => {
  const found = new Map([["s a A", { status: "FAILURE", message: "broken" }]]);

  test("a difference must be listed for its cell", () => {
    const elsewhere = [{ reason: "", cells: ["x/modern"], checks: ["s a A"] }];
    expect(judge("x/legacy", found, elsewhere).unexpected).toEqual(["s a A: FAILURE broken"]);
    expect(judge("x/modern", found, elsewhere)).toEqual({ unexpected: [], stale: [] });
  });

  test("what is listed must differ", () => {
    const listed = [{ reason: "", cells: ["x/legacy"], checks: ["s a A", "s b B"] }];
    expect(judge("x/legacy", found, listed)).toEqual({ unexpected: [], stale: ["s b B"] });
  });
});

test("docs/conformance.md names exactly the expected differences, with their reasons", () => {
  const expected = JSON.parse(readFileSync("test/conformance/expected.json", "utf8")) as Expected[];
  const section = readFileSync("docs/conformance.md", "utf8").split(/^## .*$/m)[1] ?? "";
  expect(section.slice(section.indexOf("**")).trim()).toBe(differencesText(expected));
  for (const { reason, cells, checks } of expected) {
    expect(reason).toMatch(/\.$/);
    expect(cells.length * checks.length).toBeGreaterThan(0);
  }
});

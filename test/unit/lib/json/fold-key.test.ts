/** Names that readers of JSON take for the same have one form. */
import { describe, expect, test } from "vitest";
import { foldKey, foldWords } from "../../../../src/lib/json/fold-key.ts";

describe("A-H1: names that some reader takes for the same", () => {
  test.each([
    ["name", "NAME", "Go, .NET, Java"],
    ["task", "tas\u212a", "Go: the Kelvin sign"],
    ["task", "ta\u017fk", "Go: the long s"],
    ["uri", "ur\u0130", "Java: the dotted capital I"],
    ["uri", "ur\u0131", "Java: the dotless i"],
    ["stra\u00dfe", "STRA\u1e9eE", "Go: the capital sharp s"],
    ["\u03c3\u03c2", "\u03a3\u03a3", "Go: the final sigma"],
    ["\u00e9", "e\u0301", "Swift: a composed character"],
    ["name", "name\u0000x", "C: a NUL"],
    ["a\ud800", "a\udfff", "Go: half a surrogate pair"],
  ])("%j and %j (%s)", (one, other) => {
    expect(foldKey(other)).toBe(foldKey(one));
  });

  test.each([
    ["name", "names"],
    ["name", "n\u0430me"],
    ["argument", "arguments"],
    ["task_id", "taskId"],
    ["a", "\uff41"],
  ])("%j and %j are different names", (one, other) => {
    expect(foldKey(other)).not.toBe(foldKey(one));
  });

  test("some readers ignore what separates words, too", () => {
    expect(["taskId", "task_id", "TASK-ID", "taskid"].map(foldWords)).toEqual(Array(4).fill("taskid"));
    expect(foldWords("_meta")).toBe("meta");
  });
});

/** Regular expressions of conditions, against those of JavaScript where both mean the same. */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { LinearPattern } from "../../../src/policy/conditions/linear-pattern.ts";
import { Budget } from "../../../src/policy/conditions/work.ts";

const matches = (pattern: string, text: string): boolean => new LinearPattern(pattern).test(text, new Budget());

test.each([
  ["(?i)drop|truncate", "TRUNCATE TABLE", true],
  ["(?i:drop) table", "DROP table", true],
  ["(?i:drop) table", "DROP TABLE", false],
  ["(?i)[a-c]x", "BX", true],
  ["(?i)straße", "STRAßE", true],
  ["(?s)a.b", "a\nb", true],
  ["a.b", "a\nb", false],
  ["(?m)^b$", "a\nb\nc", true],
  ["^b$", "a\nb\nc", false],
  ["\\Ab\\z", "b", true],
  ["(?P<x>ab){2,3}c", "ababc", true],
  ["(?:ab){2}c", "abc", false],
  ["\\bdrop\\b", "a drop b", true],
  ["\\bdrop\\b", "dropped", false],
  ["\\x41\\x{1F600}", "A😀", true],
  ["^.$", "😀", true],
  ["[^]]", "]", false],
  ["[]a]", "]", true],
  ["[a-]", "-", true],
  ["", "anything", true],
  ["(a*)*b", "aaaaaaaac", false],
  ["(|a)+b", "aab", true],
])("%s on %j: %s", (pattern, text, expected) => {
  expect(matches(pattern, text)).toBe(expected);
});

test.each(["(", ")", "[a", "a**b)", "*a", "(?=a)", "(?<!a)", "\\1", "\\p{L}", "a{2,1}", "[[:alpha:]]", "[z-a]", "\\"])(
  "%s is refused",
  (pattern) => {
    expect(() => new LinearPattern(pattern)).toThrow("the pattern of matches() is wrong");
  },
);

test("patterns and texts have a limit", () => {
  expect(() => new LinearPattern("((a{100}){100}){100}")).toThrow("the pattern is too large");
  expect(() => matches("(a|b)*c(a|b)*d", "a".repeat(5_000_000))).toThrow("too large for its loops and patterns");
});

describe("generated patterns", () => {
  const atom = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\w", "\\d", "\\s", "^", "$", "\\b");
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { depthSize: "small" },
      atom,
      fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => a + b),
      fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `(?:${a}|${b})`),
      fc.tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{1,2}", "*?")).map(([a, n]) => `(?:${a})${n}`),
    ),
  }));

  test("match as in JavaScript", () => {
    fc.assert(
      fc.property(
        pattern,
        fc.string({ unit: fc.constantFrom("a", "b", "1", " ", "_"), maxLength: 8 }),
        (source, text) => {
          expect(matches(source, text)).toBe(new RegExp(source, "u").test(text));
        },
      ),
      { numRuns: 1000 },
    );
  });
});

test("the cases of a character are looked up once, however long the text is", () => {
  const pattern = new LinearPattern("(?i)drop|[t-v]runcate");
  const lower = vi.spyOn(String.prototype, "toLowerCase");
  const isFound = [pattern.test("dro\u0436".repeat(5000), new Budget()), pattern.test("x".repeat(5000), new Budget())];
  const { length } = lower.mock.calls;
  lower.mockRestore();
  expect(isFound).toEqual([false, false]);
  expect(length).toBeLessThan(10);
});

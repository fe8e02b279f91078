/** Regular expressions of conditions, against those of JavaScript where both mean the same. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileArgument, Pattern } from "../../../src/policy/conditions/pattern.ts";
import { Budget } from "../../../src/policy/conditions/work.ts";

const matches = (pattern: string, text: string): boolean => new Pattern(pattern).test(text, new Budget());

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
  ["^\\p{Greek}+$", "\u03b1\u03b2", true],
  ["^[[:alpha:]]+$", "ab1", false],
])("%s on %j: %s", (pattern, text, expected) => {
  expect(matches(pattern, text)).toBe(expected);
});

test.each([
  ["(", "missing closing ) (at its character 2)"],
  ["a(b", "missing closing ) (at its character 4)"],
  [")", "unexpected ) (at its character 1)"],
  ["(a)b)c", "unexpected ) (at its character 5)"],
  ["[a", "missing closing ]: [a (at its character 1)"],
  ["a**b)", "invalid nested repetition operator: ** (at its character 2)"],
  ["*a", "missing argument to repetition operator: * (at its character 1)"],
  ["x(?=a)", "RE2 has no lookarounds: (?= (at its character 2)"],
  ["(?<!a)", "RE2 has no lookarounds: (?<!a) (at its character 1)"],
  ["(a)\\1", "RE2 has no backreferences: \\1 (at its character 4)"],
  ["\\p{Nowhere}", "invalid character class range: \\p{Nowhere} (at its character 1)"],
  ["[[:nowhere:]]", "invalid character class range: [:nowhere:] (at its character 2)"],
  ["a{2,1}", "invalid repeat count: {2,1} (at its character 2)"],
  ["((a{100}){100}){100}", "invalid repeat count: {100} (at its character 4)"],
  ["[z-a]", "invalid character class range: z-a (at its character 2)"],
  ["ab\\", "trailing backslash at end of expression (at its character 3)"],
])("%s is refused: %s", (pattern, expected) => {
  expect(() => new Pattern(pattern)).toThrow(`the pattern of matches() is wrong: ${expected}`);
});

test("patterns and texts have a limit", () => {
  expect(() => new Pattern("(?:ab|cd){1000}")).toThrow("the pattern of matches() is too large");
  expect(() => matches("(a|b)*c(a|b)*d", "a".repeat(5_000_000))).toThrow("too large for its loops and patterns");
});

describe("patterns in the arguments of a call", () => {
  test("match like those of a rule", () => {
    expect(compileArgument("^[0-9a-f]{8}-[0-9a-f]{4}$", new Budget()).test("0123abcd-ef01", new Budget())).toBe(true);
  });

  test("A-M8: are refused before they are compiled if that would take too long", () => {
    const tooLarge = "too large for its loops and patterns";
    expect(() => compileArgument("a".repeat(20_000), new Budget())).toThrow(tooLarge);
    expect(() => compileArgument(`(?:${"ab|c?d".repeat(100)}){900}`, new Budget())).toThrow(tooLarge);
    const budget = new Budget();
    const compileMany = () => {
      for (let i = 0; i < 20_000; i++) compileArgument(`a+${i}`, budget);
    };
    expect(compileMany).toThrow(tooLarge);
  });

  test("are not quoted in an error", () => {
    expect(() => compileArgument("(?=s3cret)", new Budget())).toThrow(
      /^the pattern in the arguments is too large, or not in RE2 syntax$/,
    );
  });
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

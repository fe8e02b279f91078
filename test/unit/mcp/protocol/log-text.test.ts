import { expect, test } from "vitest";
import { logText } from "../../../../src/mcp/protocol/log-text.ts";

test.each([
  ['[\n  {\r\n\t"expected": "string"\n  }\n]', '[ { "expected": "string" } ]'],
  ["one\ttwo   three", "one two   three"],
  ["a\u001b[2Jb\u0000c\u2028d\u202ee\u000bf\u0085g", "a\ufffd[2Jb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg"],
])("%j is on one line", (text, shown) => {
  expect(logText(text)).toBe(shown);
});

test("a long text is cut, with its length", () => {
  expect(logText("a\n".repeat(500), 6)).toBe("a a a … (1000 characters)");
});

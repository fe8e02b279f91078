import { expect, it } from "vitest";
import { createStderrLevels } from "../../../../src/upstream/servers/reports/stderr-level.ts";

it.each([
  ["Secure MCP Filesystem Server running on stdio", "info"],
  ["2026-07-28T10:00:00.123Z [ERROR] no database", "error"],
  ["INFO:     Started server process [1]", "info"],
  ["npm warn deprecated foo@1.0.0", "warn"],
  ["npm error code E404", "error"],
  ["(node:12) ExperimentalWarning: something", "warn"],
  ["TypeError: x is not a function", "error"],
  ["Error: GITHUB_TOKEN is required", "error"],
  ["DEBUG foo", "debug"],
  ["0 errors found", "info"],
  ["", "info"],
])("%j is %s", (line, level) => {
  expect(createStderrLevels()(line)).toBe(level);
});

it("a stack trace has the level of its error, and ends with the next line", () => {
  const levelOf = createStderrLevels();
  const lines = ["Error: boom", "    at foo (a.js:1:2)", "    at bar", "listening again", "    indented"];
  expect(lines.map(levelOf)).toEqual(["error", "error", "error", "info", "info"]);
});

it("a hostile line costs little", () => {
  expect(createStderrLevels()(":".repeat(1_000_000))).toBe("info");
});

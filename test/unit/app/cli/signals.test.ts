import { expect, test } from "vitest";
import { isEnd } from "../../../../src/app/cli/signals.ts";

test.each([
  ["linux", false, false, false],
  ["linux", true, true, false],
  ["linux", true, false, true],
  ["win32", false, false, true],
  ["win32", true, true, true],
] as const)("a hangup on %s, had a terminal: %s, has one: %s, ends it: %s", (platform, hadTerminal, has, ends) => {
  expect(isEnd({ platform, hadTerminal, hasTerminal: () => has })).toBe(ends);
});

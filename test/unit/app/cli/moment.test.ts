import { expect, test } from "vitest";
import { momentOf } from "../../../../src/app/cli/logs/moment.ts";

test.each([
  ["30s", 970_000],
  ["10m", 400_000],
  ["1970-01-01T00:10:00Z", 600_000],
  ["1970-01-02", 86_400_000],
  ["", undefined],
  ["10", undefined],
  ["10 minutes", undefined],
  ["2026-13-45", undefined],
])("%j is a moment", (text, moment) => {
  expect(momentOf(text, 1_000_000)).toBe(moment);
});

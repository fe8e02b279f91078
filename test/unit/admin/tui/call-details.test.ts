/** A call in full, as the dashboard shows it. */
import { expect, test } from "vitest";
import { callLines } from "../../../../src/admin/tui/content/call-details.ts";
import { callDetails, plausibleData } from "../../../tui/fake-rows.ts";

const row = plausibleData().calls[0]!;

/** The facts about a call with this number of masked keys and tokens. */
function shown(masked: number): string[] {
  const about = { key: "calls", version: "1", call: callDetails(row, { masked }) };
  return callLines({ width: 60, terms: [] }, row, about).map((line) => line.map(({ text }) => text).join(""));
}

test("says how many keys and tokens were masked, if any were", () => {
  expect(shown(2)).toContain("masked      2 keys or tokens");
  expect(shown(1)).toContain("masked      1 key or token");
  expect(shown(0).filter((line) => line.startsWith("masked"))).toEqual([]);
});

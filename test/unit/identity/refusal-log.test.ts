import { expect, test } from "vitest";
import { refusalLog } from "../../../src/identity/refusal-log.ts";

test("a flood is counted, not written", () => {
  let now = 0;
  const lines: object[] = [];
  const refused = refusalLog(
    (fields) => lines.push(fields),
    () => now,
  );
  for (let i = 0; i < 1000; i++) refused(`bad ${i}`);
  expect(lines).toHaveLength(10);
  now = 1000;
  refused("later");
  refused("again");
  expect(lines.slice(10)).toEqual([{ reason: "later", notShown: 990 }, { reason: "again" }]);
});

import { expect, test } from "vitest";
import { cookieIn } from "../../../../src/lib/text/cookie.ts";

test.each([
  ["a=1", "1"],
  ["b=2; a=1", "1"],
  ["b=2;a=x=y;c=3", "x=y"],
  ["a=", ""],
  ["ba=1; xa=2", undefined],
  ["a", undefined],
  ["a=1; a=1", "1"],
  ["a=1; b=3; a=2", undefined],
  ["", undefined],
  [null, undefined],
  [undefined, undefined],
])("the cookie a in %j is %j", (header, value) => {
  expect(cookieIn(header, "a")).toBe(value);
});

/** The end of long values, wherever a window of the search ends in them. */
import { expect, test } from "vitest";
import { skipValue } from "../../../../src/lib/json/json-text.ts";

const units: Record<string, string> = {
  "empty arrays": "[],",
  objects: '{"a":{"b":[1]}},',
  "brackets in strings": '"]}[{",',
  "escaped quotes": '"\\"]",',
  "escaped backslashes": '"\\\\","\\\\\\"]",',
  "code units that end in the code of a quote or bracket": '"\u2222\u5b5d\u225c中",',
  "long strings": `"${"x]".repeat(40_000)}",`,
  "long strings of escapes": `"${'\\"'.repeat(40_000)}","${"\\\\".repeat(40_001)}",`,
};

test.for(Object.entries(units))("%s", ([, unit]) => {
  // Each shift puts the ends of the windows at another place of the unit.
  for (let shift = 0; shift < 24; shift++) {
    const value = `{"a":[${" ".repeat(shift)}${unit.repeat(Math.ceil(150_000 / unit.length))}1]}`;
    JSON.parse(value);
    expect(skipValue(`x${value}]}`, 1)).toBe(1 + value.length);
    expect(skipValue(value.slice(0, -1), 0)).toBe(value.length - 1);
  }
});

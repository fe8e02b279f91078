import { expect, test } from "vitest";
import { readFrame } from "../../../../src/observe/recording/frame.ts";

test("lines that no recorder wrote are passed over", () => {
  for (const line of ["1", "{}", "[]", '{"t":1,"params":1,"result":2}', '{"t":1,"side":"else","frame":1}', '{"t":']) {
    expect(readFrame(line)).toBeUndefined();
  }
});

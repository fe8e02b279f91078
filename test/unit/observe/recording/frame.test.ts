import { expect, test } from "vitest";
import { readFrames } from "../../../../src/observe/recording/frame.ts";

test("lines that no recorder wrote are passed over", () => {
  const wholes = ["[]", "1", '[1,"a"],"params":[]', '["a",1],"params":{}', '{},"params":null'].map(
    (sent) => `{"t":1,"us":[1,2,3],"sent":${sent},"result":2}`,
  );
  for (const line of ["1", "{}", '{"t":1,"params":1,"result":2}', '{"t":', ...wholes]) {
    expect(readFrames(line)).toEqual([]);
  }
});

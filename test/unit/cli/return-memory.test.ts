import { expect, test } from "vitest";
import { returnMemory } from "../../../src/cli/gateway/return-memory.ts";

test("what nobody uses any more is given back, and nothing global is left behind", async () => {
  const unused = new WeakRef({ text: "x" });
  // A WeakRef keeps its target until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  returnMemory();
  expect(unused.deref()).toBeUndefined();
  expect("gc" in globalThis).toBe(false);
});

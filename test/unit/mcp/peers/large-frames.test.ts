import { expect, test } from "vitest";
import { LargeFrames } from "../../../../src/mcp/peers/large-frames.ts";

const message = (text: string): Buffer =>
  Buffer.from(JSON.stringify({ jsonrpc: "2.0", method: "x", params: { text } }));
const LARGE = "x".repeat(3_000_000);

test("messages behind a large one wait for it; other streams do not", async () => {
  const frames = new LargeFrames();
  const taken: string[] = [];
  const take = (name: string) => (): void => void taken.push(name);
  expect(frames.settled).toBeUndefined();
  frames.read(message(LARGE), 1, take("large"));
  expect([frames.isReading(1), frames.isReading(2), frames.isReading(undefined)]).toEqual([true, false, false]);
  frames.read(message("small"), 1, take("small"));
  frames.read(message(LARGE), 1, take("large again"));
  frames.read(message("last"), 1, take("last"));
  frames.read(message("elsewhere"), undefined, take("elsewhere"));
  await frames.settled;
  expect(taken).toEqual(["elsewhere", "large", "small", "large again", "last"]);
  expect([frames.isReading(1), frames.settled]).toEqual([false, undefined]);
});

test("a small message survives the reuse of its buffer, and what is not JSON is told as such", async () => {
  const frames = new LargeFrames();
  const taken: (string | undefined)[] = [];
  frames.read(message(LARGE), undefined, (frame) => taken.push(frame?.kind));
  const buffer = message("kept");
  frames.read(buffer, undefined, (frame, own) => taken.push(frame?.kind, own.toString()));
  buffer.fill(0);
  frames.read(Buffer.from("{broken"), undefined, (frame) => taken.push(frame?.kind));
  await frames.settled;
  expect(taken).toEqual(["notification", "notification", message("kept").toString(), undefined]);
});

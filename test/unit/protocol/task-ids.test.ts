import { expect, test } from "vitest";
import { exposeTaskIds, splitTaskId } from "../../../src/protocol/task-ids.ts";

test("ids in a result become routable, wherever a result has them; big integers beside them stay", () => {
  const text =
    '{"resultType":"task","taskId":"t1","n":12345678901234567890,"task":{"taskId":"t2"},"tasks":[{"taskId":"t3"},{}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t4"}}}';
  expect(exposeTaskIds(text, "one")).toBe(
    '{"resultType":"task","taskId":"one+t1","n":12345678901234567890,"task":{"taskId":"one+t2"},"tasks":[{"taskId":"one+t3"},{}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one+t4"}}}',
  );
});

test("what a tool says about tasks of its own is not touched", () => {
  const text = '{"content":[],"structuredContent":{"taskId":"mine"}}';
  expect(exposeTaskIds(text, "one")).toBe(text);
});

test("an id is split at the first plus, so that a server's own id may have one", () => {
  expect(splitTaskId("one+a+b")).toEqual({ prefix: "one", taskId: "a+b" });
  expect(splitTaskId("nothing")).toBeUndefined();
  expect(splitTaskId("+x")).toBeUndefined();
});

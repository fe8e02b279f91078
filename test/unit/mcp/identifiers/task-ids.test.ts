import { expect, test } from "vitest";
import { begunTask, exposeTaskIds, joinTaskId, splitTaskId } from "../../../../src/mcp/identifiers/task-ids.ts";

test("ids in a result become routable, wherever a result has them; big integers beside them stay", () => {
  const text =
    '{"resultType":"task","taskId":"t1","n":12345678901234567890,"task":{"taskId":"t2"},"tasks":[{"taskId":"t3"},{}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t4"}}}';
  expect(exposeTaskIds(text, (id) => `one+s.${id}`)).toBe(
    '{"resultType":"task","taskId":"one+s.t1","n":12345678901234567890,"task":{"taskId":"one+s.t2"},"tasks":[{"taskId":"one+s.t3"},{}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one+s.t4"}}}',
  );
});

test("what a tool says about tasks of its own is not touched", () => {
  const text = '{"content":[],"structuredContent":{"taskId":"mine"}}';
  expect(exposeTaskIds(text, (id) => `one+s.${id}`)).toBe(text);
});

test("ids of tasks that are not the client's stay as they are", () => {
  const text = '{"tasks":[{"taskId":"mine"},{"taskId":"yours"}]}';
  expect(exposeTaskIds(text, (id) => (id === "mine" ? "x" : undefined))).toBe(
    '{"tasks":[{"taskId":"x"},{"taskId":"yours"}]}',
  );
});

test("a task begins in a member of its own, or as the result itself; a result that only speaks of one begins none", () => {
  expect(begunTask('{"task":{"taskId":"t1"}}')).toBe("t1");
  expect(begunTask('{"resultType":"task","taskId":"t1"}')).toBe("t1");
  expect(begunTask('{"resultType":"complete","taskId":"t1"}')).toBeUndefined();
  expect(begunTask('{"taskId":"t1"}')).toBeUndefined();
  expect(begunTask('{"task":{"taskId":1}}')).toBeUndefined();
});

test("an id comes apart as it was joined, whatever the server's own id has in it", () => {
  for (const taskId of ["a", "a+b.c", ".", "+", ""]) {
    for (const tag of ["", "t-_"]) {
      const parts = { prefix: "one", seal: "s-_", tag, taskId };
      expect(splitTaskId(joinTaskId(parts))).toEqual(parts);
    }
  }
  for (const none of ["nothing", "+s.x", "one+x", "one.x"]) expect(splitTaskId(none)).toBeUndefined();
});

import { expect, test } from "vitest";
import { StartQueue } from "../../../../src/upstream/servers/connections/start-queue.ts";

const never = new AbortController().signal;

test("a few at a time, in order", async () => {
  const queue = new StartQueue({ atATime: 2 });
  const first = await queue.enter(never);
  const second = await queue.enter(never);
  expect(queue.isFull).toBe(true);
  const entered: string[] = [];
  const third = queue.enter(never).then((leave) => {
    entered.push("third");
    return leave;
  });
  const fourth = queue.enter(never).then(() => entered.push("fourth"));
  await Promise.resolve();
  expect(entered).toEqual([]);
  second();
  second();
  await third;
  expect(entered).toEqual(["third"]);
  first();
  await fourth;
  expect(entered).toEqual(["third", "fourth"]);
});

test("one that never answers does not keep the others waiting", async () => {
  const queue = new StartQueue({ atATime: 1, longestHoldMs: 20 });
  await queue.enter(never);
  await queue.enter(never);
});

test("one that is not wanted any more leaves the queue", async () => {
  const queue = new StartQueue({ atATime: 1 });
  const leave = await queue.enter(never);
  const abort = new AbortController();
  const given = queue.enter(abort.signal);
  const next = queue.enter(never);
  abort.abort();
  (await given)();
  leave();
  (await next)();
  expect(queue.isFull).toBe(false);
});

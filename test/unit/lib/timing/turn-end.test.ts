import { expect, test, vi } from "vitest";
import { afterAnswers, atTurnEnd } from "../../../../src/lib/timing/turn-end.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("what is given in one turn is done together, in order, after the promises and ticks of that turn", async () => {
  const done: string[] = [];
  const task = (name: string) => ({ atTurnEnd: () => void done.push(name) });
  atTurnEnd(task("first"));
  process.nextTick(() => done.push("tick"));
  void Promise.resolve().then(() => {
    done.push("promise");
    atTurnEnd(task("second"));
  });
  expect(done).toEqual([]);
  await turn();
  expect(done.toSorted()).toEqual(["first", "promise", "second", "tick"]);
  expect(done.indexOf("first")).toBe(2);
  expect(done.indexOf("second")).toBe(3);
});

test("answers leave before requests, whatever came first", async () => {
  const done: string[] = [];
  const task = (name: string) => ({ atTurnEnd: () => void done.push(name) });
  afterAnswers(task("request"));
  atTurnEnd(task("answer"));
  afterAnswers(task("another request"));
  atTurnEnd(task("another answer"));
  await turn();
  expect(done).toEqual(["answer", "another answer", "request", "another request"]);
});

test("what is given meanwhile is done in the next turn, once", async () => {
  const done: string[] = [];
  atTurnEnd({
    atTurnEnd: () => {
      done.push("outer");
      atTurnEnd({ atTurnEnd: () => void done.push("inner") });
    },
  });
  await turn();
  expect(done).toEqual(["outer"]);
  await turn();
  await turn();
  expect(done).toEqual(["outer", "inner"]);
});

test("a defect in one keeps no other from being done, and is not hidden", async () => {
  const reported = vi.fn();
  const own = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", reported);
  try {
    const done = vi.fn();
    const defect = new Error("a defect");
    atTurnEnd({
      atTurnEnd: () => {
        throw defect;
      },
    });
    atTurnEnd({ atTurnEnd: done });
    await turn();
    await turn();
    expect(done).toHaveBeenCalledTimes(1);
    expect(reported).toHaveBeenCalledExactlyOnceWith(defect, "uncaughtException");
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const listener of own) process.on("uncaughtException", listener);
  }
});

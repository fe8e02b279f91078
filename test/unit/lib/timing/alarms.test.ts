/**
 * Many alarms on one timer: each rings once, when it is due by what was said last.
 */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Alarm, Alarms } from "../../../../src/lib/timing/alarms.ts";

let alarms: Alarms;
let rung: string[];
let begin: number;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  [alarms, rung, begin] = [new Alarms(), [], performance.now()];
});
afterEach(() => void vi.useRealTimers());

const alarm = (name: string, also: () => void = () => {}): Alarm => ({
  due: 0,
  place: -1,
  ring() {
    rung.push(`${name} at ${performance.now() - begin}`);
    also();
  },
});
const set = (it: Alarm, ms: number): void => alarms.set(it, begin + ms);

test("ring when they are due, in whatever order they were set, on one timer", () => {
  for (const ms of [30, 10, 20]) set(alarm(`${ms}`), ms);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(9);
  expect(rung).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(rung).toEqual(["10 at 10", "20 at 20", "30 at 30"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("one that is moved rings at its new time only", () => {
  const [later, earlier] = [alarm("later"), alarm("earlier")];
  set(later, 10);
  set(earlier, 50);
  set(later, 30);
  set(earlier, 20);
  vi.advanceTimersByTime(100);
  expect(rung).toEqual(["earlier at 20", "later at 30"]);
});

test("one that is cleared does not ring; all others do", () => {
  const all = [10, 20, 30, 40].map((ms) => alarm(`${ms}`));
  all.forEach((it, i) => {
    set(it, (i + 1) * 10);
  });
  for (const it of [all[0]!, all[2]!, all[2]!]) alarms.clear(it);
  vi.advanceTimersByTime(100);
  expect(rung).toEqual(["20 at 20", "40 at 40"]);
  set(all[0]!, 150);
  vi.advanceTimersByTime(100);
  expect(rung).toEqual(["20 at 20", "40 at 40", "10 at 150"]);
});

test("thousands of them, a third cleared: every other one rings once, at its time", () => {
  const all = Array.from({ length: 3000 }, (_, i) => alarm(`${(i * 7) % 3000}`));
  all.forEach((it, i) => {
    set(it, ((i * 7) % 3000) + 1);
  });
  const kept = all.map((_, i) => (i * 7) % 3000).filter((_, i) => i % 3 !== 0);
  all.forEach((it, i) => {
    if (i % 3 === 0) alarms.clear(it);
  });
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(4000);
  expect(rung).toEqual(kept.sort((a, b) => a - b).map((n) => `${n} at ${n + 1}`));
});

test("what one does when it rings counts for those that are due at the same time", () => {
  const [moved, cleared, added] = [alarm("moved"), alarm("cleared"), alarm("added")];
  const again: Alarm = alarm("again", () => {
    if (rung.length > 1) return;
    alarms.clear(cleared);
    set(moved, 30);
    set(added, 5);
    set(again, 20);
  });
  for (const it of [again, moved, cleared]) set(it, 10);
  vi.advanceTimersByTime(100);
  // What is set for a time that is over rings at once, though not before the timer runs.
  expect(rung).toEqual(["again at 10", "added at 11", "again at 20", "moved at 30"]);
});

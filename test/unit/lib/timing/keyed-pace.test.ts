import fc from "fast-check";
import { expect, it } from "vitest";
import { KeyedPace } from "../../../../src/lib/timing/keyed-pace.ts";

function paced() {
  const passed: string[] = [];
  let next: (() => void) | undefined;
  let idle = 0;
  const pace = new KeyedPace({
    pass: (key, message) => passed.push(key + message),
    idle: () => void idle++,
    later: (run) => {
      next = run;
    },
  });
  const moment = (): boolean => {
    const run = next;
    next = undefined;
    run?.();
    return run !== undefined;
  };
  return { pace, passed, moment, idle: () => idle };
}

it("passes the first message at once, and of the others of a moment only the last", () => {
  const { pace, passed, moment, idle } = paced();
  for (const message of ["1", "2", "3"]) pace.push("a", message);
  pace.push("b", "1");
  expect(passed).toEqual(["a1", "b1"]);
  moment();
  expect(passed).toEqual(["a1", "b1", "a3"]);
  pace.push("a", "4");
  expect(passed.length).toBe(3);
  moment();
  expect(passed.at(-1)).toBe("a4");
  moment();
  expect([idle(), moment()]).toEqual([1, false]);
  pace.push("a", "5");
  expect(passed.at(-1)).toBe("a5");
});

it("keeps at most a thousand keys, and loses the last message of none", () => {
  const key = fc.integer({ min: 0, max: 3000 }).map(String);
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.boolean()), { minLength: 3000, maxLength: 5000 }), (pushes) => {
      const { pace, passed, moment, idle } = paced();
      const last = new Map<string, string>();
      for (const [n, [name, ends]] of pushes.entries()) {
        pace.push(`${name}:`, String(n));
        last.set(`${name}:`, String(n));
        if (ends && n % 500 === 0) moment();
      }
      while (moment());
      expect(idle()).toBeGreaterThan(0);
      const seen = new Map(passed.map((text) => text.split(/(?<=:)/) as [string, string]));
      expect(seen).toEqual(last);
    }),
    { numRuns: 10 },
  );
});

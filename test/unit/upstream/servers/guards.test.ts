/**
 * The parts that keep one server's trouble its own: breaker, backoff, and the throttle of
 * what is logged about it.
 */
import { describe, expect, test } from "vitest";
import { backoffMs } from "../../../../src/lib/timing/backoff.ts";
import { Renewals } from "../../../../src/lib/timing/renewals.ts";
import { Throttle } from "../../../../src/lib/timing/throttle.ts";
import { Breaker } from "../../../../src/upstream/servers/breaker.ts";

test("a server that wants a new connection again and again gets it at once a few times, and then like any other", () => {
  const renewals = new Renewals();
  expect([1, 2, 3, 4, 5, 6, 7].map((ms) => renewals.pass(ms))).toEqual([true, true, true, true, true, false, false]);
  expect(renewals.pass(20_000)).toBe(true);
});

describe("breaker", () => {
  const make = () => {
    let now = 1000;
    const breaker = new Breaker({ failures: 3, openMs: 100, maxOpenMs: 250, now: () => now });
    return { breaker, pass: (ms: number) => (now += ms) };
  };

  test("opens after failures in a row, and only in a row", () => {
    const { breaker } = make();
    breaker.failed();
    breaker.failed();
    breaker.succeeded();
    breaker.failed();
    breaker.failed();
    expect([breaker.isOpen, breaker.retryAfterMs()]).toEqual([false, 0]);
    breaker.failed();
    expect([breaker.isOpen, breaker.retryAfterMs()]).toEqual([true, 100]);
  });

  test("after a while lets one call through to see, and one only", () => {
    const { breaker, pass } = make();
    for (let i = 0; i < 3; i++) breaker.failed();
    pass(60);
    expect(breaker.retryAfterMs()).toBe(40);
    expect(breaker.standing).toEqual({ open: true, failures: 3, retryInMs: 40 });
    pass(40);
    // To look takes nobody's turn.
    expect(breaker.standing).toEqual({ open: true, failures: 3, retryInMs: 0 });
    expect(breaker.retryAfterMs()).toBe(0);
    expect(breaker.retryAfterMs()).toBe(100);
    breaker.succeeded();
    expect([breaker.isOpen, breaker.retryAfterMs()]).toEqual([false, 0]);
  });

  test("stays shut longer each time, up to a limit, and starts anew when the server is well", () => {
    const { breaker, pass } = make();
    for (let i = 0; i < 3; i++) breaker.failed();
    for (const wanted of [200, 250, 250]) {
      pass(1000);
      expect(breaker.retryAfterMs()).toBe(0);
      breaker.failed();
      expect(breaker.retryAfterMs()).toBe(wanted);
    }
    pass(1000);
    breaker.retryAfterMs();
    breaker.succeeded();
    for (let i = 0; i < 3; i++) breaker.failed();
    expect(breaker.retryAfterMs()).toBe(100);
  });

  test("a trial that ends without telling anything makes room for the next", () => {
    const { breaker, pass } = make();
    for (let i = 0; i < 3; i++) breaker.failed();
    pass(100);
    expect(breaker.retryAfterMs()).toBe(0);
    breaker.abandoned();
    expect(breaker.retryAfterMs()).toBe(0);
  });
});

test("the pause doubles from half a second to half a minute, with a quarter of jitter", () => {
  const middle = [0, 1, 2, 3, 4, 5, 6, 7, 1000].map((attempt) => backoffMs(attempt, () => 0.5));
  expect(middle).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  expect([backoffMs(0, () => 0), backoffMs(0, () => 1)]).toEqual([375, 625]);
});

test("a throttle lets a few through in each span of time and counts the rest", () => {
  let now = 0;
  const throttle = new Throttle({ burst: 2, everyMs: 100, now: () => now });
  expect([1, 2, 3, 4].map(() => throttle.pass())).toEqual([0, 0, undefined, undefined]);
  now = 100;
  expect([1, 2, 3].map(() => throttle.pass())).toEqual([2, 0, undefined]);
});

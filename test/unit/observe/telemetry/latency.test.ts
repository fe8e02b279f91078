import { expect, test } from "vitest";
import { Latency } from "../../../../src/observe/telemetry/latency.ts";

test("percentiles are at most a quarter off", () => {
  const latency = new Latency();
  expect(latency.quantile(0.5)).toBeNull();
  for (let ms = 1; ms <= 1000; ms++) latency.add(ms);
  expect(latency.count).toBe(1000);
  expect(latency.sumMs).toBe(500_500);
  expect(Math.abs(latency.quantile(0.5)! - 500)).toBeLessThan(50);
  expect(Math.abs(latency.quantile(0.99)! - 990)).toBeLessThan(100);
  latency.reset();
  expect(latency.quantile(0.5)).toBeNull();
});

test("the counts up to each exposed bound are exact, at the bound and beyond all of them", () => {
  const latency = new Latency();
  for (const ms of [0, 0.25, 0.26, 1, 1.01, 100_000, 100_001, 9_999_999]) latency.add(ms);
  // 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10 000, 25 000, 50 000, 100
  // 000
  expect(latency.cumulative()).toEqual([2, 3, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6]);
  expect(latency.count).toBe(8);
  expect(latency.quantile(1)).toBe(800_000);
});

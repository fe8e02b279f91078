/** What a connection remembers of its last request is little. */
import { expect, test } from "vitest";
import { LatestHeaders } from "../../../src/front/http/node/latest-headers.ts";

const remembered = (entries: readonly (readonly [string, string])[]): LatestHeaders | undefined =>
  LatestHeaders.of(entries.flat(), Object.fromEntries(entries));
const many = (count: number): [string, string][] => Array.from({ length: count }, (_, n) => [`x${n}`, "1"]);

test("at most 64 headers are remembered", () => {
  expect(remembered(many(64))).toBeDefined();
  expect(remembered(many(65))).toBeUndefined();
});

test("at most 4096 characters are remembered, also when a value grows", () => {
  const latest = remembered([["x", "1".repeat(4000)]]);
  expect(latest?.read(["x", "2".repeat(4000)])).toEqual({ x: "2".repeat(4000) });
  expect(latest?.read(["x", "3".repeat(4096)])).toBeUndefined();
  expect(latest?.read(["x", "2".repeat(4000)])).toEqual({ x: "2".repeat(4000) });
  expect(remembered([["x", "1".repeat(4096)]])).toBeUndefined();
});

test("headers with other names, in another order or case are not those that are remembered", () => {
  const latest = remembered([
    ["a", "1"],
    ["b", "2"],
  ]);
  expect(latest?.read(["b", "2", "a", "1"])).toBeUndefined();
  expect(latest?.read(["A", "1", "b", "2"])).toBeUndefined();
  expect(latest?.read(["a", "1"])).toBeUndefined();
  expect(latest?.read(["a", "1", "b", "3"])).toEqual({ a: "1", b: "3" });
});

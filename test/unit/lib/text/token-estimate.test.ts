/**
 * The token estimate: near what a tokenizer counts (the numbers are o200k_base's), additive enough,
 * linear.
 */

import fc from "fast-check";
import { expect, it } from "vitest";
import { estimateTokens } from "../../../../src/lib/text/token-estimate.ts";

const ISSUE =
  '{"name":"create_issue","description":"Create a new issue in a GitHub repository","inputSchema":{"type":"object","properties":{"owner":{"type":"string"},"repo":{"type":"string"},"title":{"type":"string"}},"required":["owner","repo","title"]}}';

it.each([
  [ISSUE, 57],
  ["Convert an address into geographic coordinates", 6],
  ["Diese Funktion liest eine Datei und gibt ihren Inhalt zurück.", 13],
  ["读取文件的内容并返回文本。路径必须是绝对路径。", 15],
])("is within a third of a tokenizer's count: %s", (text, tokens) => {
  expect(estimateTokens(text)).toBeGreaterThanOrEqual(tokens * 0.67);
  expect(estimateTokens(text)).toBeLessThanOrEqual(tokens * 1.34);
});

it("is within a twentieth for a tool definition", () => {
  expect(Math.abs(estimateTokens(ISSUE) - 57)).toBeLessThanOrEqual(3);
});

it("is nothing for nothing", () => {
  expect(estimateTokens("")).toBe(0);
});

it("never falls as a text grows by whole words, and adds up", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      const both = estimateTokens(`${one} ${other}`);
      expect(both).toBeGreaterThanOrEqual(estimateTokens(one) - 2);
      expect(both).toBeLessThanOrEqual(estimateTokens(one) + estimateTokens(other) + 4);
    }),
  );
});

it("is linear: ten megabytes would take hours otherwise", () => {
  const text = ISSUE.repeat(42_000);
  expect(estimateTokens(text)).toBeGreaterThan(2_000_000);
});

/** What is a tool's result, what of it counts, and how it looks from far away. */
import { expect, test } from "vitest";
import { measure } from "../../../../src/core/results/measure.ts";
import { outlineOf } from "../../../../src/core/results/outline.ts";
import { cutTo } from "../../../../src/core/results/preview.ts";
import { partsOf } from "../../../../src/core/results/result-parts.ts";
import { estimateTokens } from "../../../../src/lib/text/token-estimate.ts";
import { finish } from "../../../../src/lib/timing/slices.ts";

const parts = (text: string) => finish(partsOf(Buffer.from(text)));

test.each([
  "null",
  "[]",
  "{}",
  '{"content":"text"}',
  '{"resultType":"input_required","content":[]}',
  '{"resultType":"task","content":[]}',
  '{"task":{"taskId":"1"}}',
  `{"content":[],${Array.from({ length: 1000 }, (_, i) => `"k${i}":1`).join(",")}}`,
])("%.40s is no result of a tool", (text) => {
  expect(parts(text)).toBeUndefined();
});

test("members are found in any spelling; the last of several counts", () => {
  const found = parts('{"cont\\u0065nt":[],"content":[{"type":"text","text":"a"}],"resultType":"complete"}')!;
  expect(found.blocks).toHaveLength(1);
  expect(found.others).toHaveLength(1);
});

const tokens = (result: object, most = 1_000_000): number =>
  finish(measure(parts(JSON.stringify(result))!, most)).tokens;

test("the larger one of content and structured content counts, and no images", () => {
  const text = "word ".repeat(100);
  const once = tokens({ content: [{ type: "text", text }] });
  expect(once).toBeGreaterThan(95);
  expect(once).toBeLessThan(115);
  expect(tokens({ content: [{ type: "text", text }], structuredContent: { text } })).toBeLessThan(115);
  expect(tokens({ content: [], structuredContent: { text: text.repeat(3) } })).toBeGreaterThan(290);
  const image = { type: "image", data: "AAAA".repeat(10_000), mimeType: "image/png" };
  expect(tokens({ content: [image, { ...image, type: "audio" }] })).toBe(0);
  // JSON in a text counts as what it says, not with its escapes.
  const json = JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ id, name: "x" })));
  const escaped = tokens({ content: [{ type: "text", text: json }] });
  expect(Math.abs(escaped - estimateTokens(json))).toBeLessThan(estimateTokens(json) / 20);
});

test("beyond the limit, the size is extrapolated", () => {
  const result = { content: [{ type: "text", text: "word ".repeat(1_000_000) }] };
  const estimate = tokens(result, 100);
  expect(estimate).toBeGreaterThan(950_000);
  expect(estimate).toBeLessThan(1_050_000);
});

test("blocks beyond the first thousands count too", () => {
  const content = Array.from({ length: 6000 }, () => ({ type: "text", text: "word" }));
  const found = parts(JSON.stringify({ content }))!;
  expect([found.blocks.length, found.hasMore]).toEqual([5000, true]);
  expect(finish(measure(found, 1_000_000)).tokens).toBeGreaterThan(5500);
});

test.each([
  ["{}", "{}"],
  ["[]", "[]"],
  ['[1,"a"]', "number[2]"],
  ['{"a b":true,"c":null,"d":-1.5e3}', '{ "a b": boolean, c: null, d: number }'],
  ['{"a":{"b":{"c":{"d":{"e":1}}}}}', "{ a: { b: { c: { d: { … } } } } }"],
  [`{${Array.from({ length: 25 }, (_, i) => `"k${i}":1`).join(",")}}`, / k19: number, … 5 more \}$/],
  [`{"${"k".repeat(1000)}":1}`, `{ "${"k".repeat(60)}…": number }`],
])("the outline of %.40s", (text, expected) => {
  const { text: outline } = finish(outlineOf(Buffer.from(text), 0));
  if (typeof expected === "string") expect(outline).toBe(expected);
  else expect(outline).toMatch(expected);
});

test("a text is cut between characters, within its tokens", () => {
  for (const text of ["word ".repeat(5000), "😀".repeat(5000), "日本語".repeat(3000), "x".repeat(50_000)]) {
    const cut = cutTo(text, 100);
    expect(cut.endsWith("…")).toBe(true);
    expect(estimateTokens(cut.slice(0, -1))).toBeLessThanOrEqual(100);
    expect(text.startsWith(cut.slice(0, -1))).toBe(true);
    expect(cut).not.toMatch(/[\uD800-\uDBFF]…$/);
  }
  expect(cutTo("short", 100)).toBe("short");
});

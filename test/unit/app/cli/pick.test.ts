import { expect, test } from "vitest";
import { pick } from "../../../../src/app/cli/calling/pick.ts";

const structured = { structuredContent: { items: [{ name: "a", "odd key": 1 }, { name: "b" }], n: null }, content: [] };
const asText = { content: [{ type: "text", text: '{"sum": 3}' }] };
const plain = { content: [{ type: "text", text: "hello" }] };

test.each([
  [structured, "items[1].name", ["b"]],
  [structured, "items.0.name", ["a"]],
  [structured, "items[*].name", ["a", "b"]],
  [structured, 'items[0]["odd key"]', [1]],
  [structured, "n", [null]],
  [structured, "$.structuredContent.n", [null]],
  [asText, "sum", [3]],
  [plain, "content[0].text", ["hello"]],
  [plain, "$", [plain]],
])("%j %s", (result, path, found) => {
  expect(pick(result, path)).toEqual(found);
});

test.each([
  [structured, "items[2]", "items is a list of 2"],
  [structured, "item", "it has items, n"],
  [structured, "n.x", "n is null"],
  [structured, "items[", "expected a path"],
])("%j has no %s", (result, path, message) => {
  expect(() => pick(result, path)).toThrow(message);
});

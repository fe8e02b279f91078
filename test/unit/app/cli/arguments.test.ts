import { expect, test } from "vitest";
import { buildArguments } from "../../../../src/app/cli/arguments.ts";

const schema = {
  type: "object",
  properties: {
    text: { type: "string" },
    count: { type: "integer" },
    ratio: { type: "number" },
    loud: { type: "boolean" },
    size: { enum: ["small", "large", 3] },
    tags: { type: "array", items: { type: "string" } },
    numbers: { type: "array", items: { type: "number" } },
    where: { type: "object" },
    either: { anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] },
    point: { $ref: "#/$defs/point" },
    free: {},
    maybe: { type: ["integer", "null"] },
  },
  $defs: { point: { type: "object", properties: { x: { type: "number" } } } },
};

test.each([
  ["text=12", { text: "12" }],
  ["text=", { text: "" }],
  ["text=a=b", { text: "a=b" }],
  ["count=12", { count: 12 }],
  ["ratio=-0.5", { ratio: -0.5 }],
  ["loud=true", { loud: true }],
  ["size=large", { size: "large" }],
  ["size=3", { size: 3 }],
  ["tags=a", { tags: ["a"] }],
  ["tags=a tags=b", { tags: ["a", "b"] }],
  ['tags=["a","b"]', { tags: ["a", "b"] }],
  ["numbers=1 numbers=2", { numbers: [1, 2] }],
  ['where={"a":[1]}', { where: { a: [1] } }],
  ["either=5", { either: 5 }],
  ["either=five", { either: "five" }],
  ["either=null", { either: null }],
  ['point={"x":1}', { point: { x: 1 } }],
  ["free=[1]", { free: [1] }],
  ["free=word", { free: "word" }],
  ["maybe=4", { maybe: 4 }],
])("%s", (words, expected) => {
  expect(buildArguments({ pairs: words.split(" "), json: undefined }, schema)).toEqual(expected);
});

test.each([
  ["count=1.5", "count=1.5: expected a whole number"],
  ["count=many", "count=many: expected a number"],
  ["count=", "count=: expected a number"],
  ["loud=yes", "loud=yes: expected true or false"],
  ["size=huge", 'size=huge: expected "small" or "large" or 3'],
  ["where=here", "where=here: expected a JSON object"],
  ["tags=[1", "tags=[1: expected a JSON array"],
  ["cuont=1", 'the tool has no argument "cuont" (did you mean "count"?)'],
  ["=1", '"=1" is not key=value'],
  ["word", '"word" is not key=value'],
])("%s is refused", (word, message) => {
  expect(() => buildArguments({ pairs: [word], json: undefined }, schema)).toThrow(message);
});

test("what is required is named with its type; --args is completed by words", () => {
  const needs = { type: "object", properties: { a: { type: "number" }, b: { type: "string" } }, required: ["a", "b"] };
  expect(() => buildArguments({ pairs: [], json: undefined }, needs)).toThrow("missing: a=<number> b=<string>");
  expect(buildArguments({ pairs: ["a=2"], json: '{"a":1,"b":"x"}' }, needs)).toEqual({ a: 2, b: "x" });
  expect(() => buildArguments({ pairs: [], json: "[1]" }, needs)).toThrow("--args must be a JSON object");
  expect(() => buildArguments({ pairs: [], json: "{" }, needs)).toThrow("--args is not JSON");
});

test("a tool that takes anything gets anything", () => {
  expect(buildArguments({ pairs: ["x=1", "y=z"], json: undefined }, { type: "object" })).toEqual({ x: 1, y: "z" });
  const open = { type: "object", properties: { a: {} }, additionalProperties: true };
  expect(buildArguments({ pairs: ["b=true"], json: undefined }, open)).toEqual({ b: true });
});

/** Signatures of tools, from schemas of all sorts. */
import { expect, test } from "vitest";
import { signatureOf } from "../../../../src/core/meta/signature.ts";

const object = (properties: Record<string, unknown>, required: string[] = []) => ({
  type: "object",
  properties,
  required,
});

test.each<[unknown, string]>([
  [object({}), "()"],
  [
    object({ labels: { type: "array", items: { type: "string" } }, owner: { type: "string" } }, ["owner"]),
    "(owner: string, labels?: string[])",
  ],
  [object({ state: { enum: ["open", "closed"] } }), '(state?: "open" | "closed")'],
  [object({ n: { type: ["integer", "null"] } }), "(n?: integer | null)"],
  [object({ x: { anyOf: [{ type: "string" }, { type: "number" }] } }), "(x?: string | number)"],
  [object({ at: object({ line: { type: "integer" } }, ["line"]) }, ["at"]), "(at: { line: integer })"],
  [object({ a: object({ b: object({ c: { type: "string" } }) }) }), "(a?: { b?: { … } })"],
  [object({ list: { type: "array", items: object({ id: { type: "string" } }) } }), "(list?: ({ id?: string })[])"],
  [
    object({ any: {}, map: { type: "object" }, "odd-name": { type: "boolean" } }),
    '(any?: …, map?: object, "odd-name"?: boolean)',
  ],
  [object({ long: { enum: Array.from({ length: 40 }, (_, n) => `value ${n}`) } }), "(long?: …)"],
  [{ ...object({ a: { type: "string" } }), oneOf: [{}] }, "(a?: string, …)"],
  ["no schema", "(…)"],
  [undefined, "(…)"],
])("%j", (schema, signature) => {
  expect(signatureOf(schema)).toBe(signature);
});

test("a long list of arguments is cut, required ones first", () => {
  const properties = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`p${n}`, { type: "string" }]));
  expect(signatureOf(object(properties, ["p29"]))).toMatch(/^\(p29: string, p0\?: string, .*p18\?: string, …\)$/);
});

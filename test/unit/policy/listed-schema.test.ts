/** Arguments that rules set or hide are gone from the schema that clients see; the rest stays. */
import { expect, test } from "vitest";
import { withoutParameters } from "../../../src/policy/arguments/listed-schema.ts";

const edited = (schema: string, ...paths: string[][]): string =>
  withoutParameters(`{"name":"t", "inputSchema":${schema} }`, paths);
const definition = (schema: string): string => `{"name":"t", "inputSchema":${schema} }`;

test.each([
  [
    '{"properties":{"a":{}, "b":{"maximum":9007199254740993}},"required":["a","b"]}',
    [["a"]],
    '{"properties":{ "b":{"maximum":9007199254740993}},"required":["b"]}',
  ],
  ['{"properties":{"a":{}},"required":["a"]}', [["a"]], '{"properties":{},"required":[]}'],
  ['{"properties":{"b":{}}, "required":["b"]}', [["a"]], '{"properties":{"b":{}}, "required":["b"]}'],
  [
    '{"properties":{"o":{"properties":{"a":{},"b":{}},"required":["a"]}}}',
    [["o", "a"]],
    '{"properties":{"o":{"properties":{"b":{}},"required":[]}}}',
  ],
  [
    '{"properties":{"o":{"type":"array","items":{"properties":{"a":{},"b":{}}}}}}',
    [["o", "a"]],
    '{"properties":{"o":{"type":"array","items":{"properties":{"b":{}}}}}}',
  ],
  [
    '{"properties":{"o":{"$ref":"#/$defs/o"},"p":{"$ref":"#/$defs/o"}},"$defs":{"o":{"properties":{"a":{},"b":{}}}}}',
    [["o", "a"]],
    '{"properties":{"o":{"properties":{"b":{}}},"p":{"$ref":"#/$defs/o"}},"$defs":{"o":{"properties":{"a":{},"b":{}}}}}',
  ],
  [
    '{"anyOf":[{"properties":{"a":{}},"required":["a"]},{"required":["b"]}],"if":{"required":["a"]}}',
    [["a"]],
    '{"anyOf":[{"properties":{},"required":[]},{"required":["b"]}],"if":{"required":[]}}',
  ],
  [
    '{"$ref":"#/$defs/x","$defs":{"x":{"$ref":"#/$defs/x"}}}',
    [["a"]],
    '{"$ref":"#/$defs/x","$defs":{"x":{"$ref":"#/$defs/x"}}}',
  ],
  ['{"properties":{"__proto__":{},"b":{}}}', [["__proto__"]], '{"properties":{"b":{}}}'],
  ["true", [["a"]], "true"],
])("%s without %j", (schema, paths, expected) => {
  expect(edited(schema, ...paths)).toBe(definition(expected));
});

test("a tool without a schema stays", () => {
  expect(withoutParameters('{"name":"t"}', [["a"]])).toBe('{"name":"t"}');
});

import { expect, test } from "vitest";
import { withValue } from "../../../src/config/editing/edit.ts";

const compact = `{ // mine
  "gateway": {"port": 4000, "auth": {"clients": {"ci": {"token":"x"}}}},
  "mcpServers": {"s":{"command":"node"}} // all of them
}
`;

test("what stands on one line stays on it", () => {
  expect(withValue(compact, ["gateway", "auth", "clients", "new"], { hash: "h" })).toBe(
    compact.replace('{"token":"x"}', '{"token":"x"}, "new": {"hash":"h"}'),
  );
  expect(withValue(compact, ["mcpServers", "s", "enabled"], false)).toBe(
    compact.replace('"node"', '"node", "enabled": false'),
  );
});

test.each([
  [
    "the line ends of Windows and a mark",
    '\ufeff{\r\n\t"a": 1\r\n}\r\n',
    '\ufeff{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": 2\r\n\t}\r\n}\r\n',
  ],
  ["a comma at the end", '{\n    "a": 1, // one\n}', '{\n    "a": 1, // one\n    "b": {\n        "c": 2\n    },\n}'],
  ["an empty text", "", '{\n  "b": {\n    "c": 2\n  }\n}\n'],
])("%s stay", (_, text, expected) => {
  const next = withValue(text, ["b", "c"], 2);
  expect(next).toBe(expected);
  if (text !== "") expect(withValue(next, ["b"], undefined)).toBe(text);
});

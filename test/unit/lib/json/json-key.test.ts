import { describe, expect, it } from "vitest";
import { JsonKey } from "../../../../src/lib/json/json-key.ts";

describe.each(["isError", "uri", "_meta", "taskId", "x"])("the key %s", (name) => {
  const key = new JsonKey(name);
  const forms = (json: string) => [json, Buffer.from(json)];

  it("is found wherever it is", () => {
    for (const json of [`{"${name}":1}`, `{"a":[{"${name}":true}]}`, `{"b":{"c":"","${name}":{}}}`]) {
      for (const form of forms(json)) expect(key.isIn(form)).toBe(true);
    }
  });

  it("is not found in longer and shorter keys and strings", () => {
    const others = [
      `{"a${name}":1}`,
      `{"${name}b":1}`,
      `{"${name.slice(0, -1)}":"${name.slice(1)}"}`,
      `{"a":"\\"${name}\\""}`,
      "{}",
    ];
    for (const json of others) for (const form of forms(json)) expect(key.isIn(form)).toBe(false);
  });
});

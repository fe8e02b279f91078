import { describe, expect, test } from "vitest";
import { boundedCapabilities, boundedInfo } from "../../../../src/core/session/bounded.ts";

const long = "x".repeat(10_000);

describe("what a client says of itself", () => {
  test("is kept whole as long as it is short", () => {
    const info = { name: "client", version: "1", description: "d".repeat(1000), icons: [{ src: "data:" }] };
    const capabilities = { elicitation: { form: {} }, other: { a: 1 }, extensions: { "com.example/x": { y: [1] } } };
    expect(boundedInfo(info)).toBe(info);
    expect(boundedCapabilities(capabilities)).toBe(capabilities);
  });

  test("is cut to names that are not long", () => {
    const name = "x".repeat(64);
    expect(boundedInfo({ name: long, title: long, version: "1", more: 5 })).toEqual({
      name,
      title: name,
      version: "1",
    });
    expect(boundedCapabilities({ roots: { listChanged: true }, other: long })).toEqual({
      roots: { listChanged: true },
    });
  });

  test("is refused where what the protocol knows is too much", () => {
    expect(() => boundedCapabilities({ extensions: { "com.example/x": long } })).toThrow(
      'The client\'s "capabilities" are too large: 10035 characters, at most 8192; declare less',
    );
  });
});

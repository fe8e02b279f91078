import { describe, expect, test } from "vitest";
import { createGuard, type GuardConfig, isLoopback } from "../../../src/front/http/guard.ts";

const config = (over: Partial<GuardConfig> = {}): GuardConfig => ({
  host: "127.0.0.1",
  allowedHosts: [],
  allowedOrigins: [],
  auth: { tokens: [] },
  ...over,
});

/** 200, or the status of the refusal. */
function verdict(over: Partial<GuardConfig>, headers: Record<string, string>): number {
  const judged = createGuard(config(over))((name) => headers[name]);
  return judged.ok ? 200 : judged.status;
}

describe("Host", () => {
  test.each([
    ["127.0.0.1:3000", 200],
    ["localhost", 200],
    ["LOCALHOST:1", 200],
    ["[::1]:3000", 200],
    ["evil.example", 403],
    ["localhost.evil.example", 403],
    ["127.0.0.1.nip.io:3000", 403],
    ["", 403],
  ])("on loopback, %s is %i", (host, status) => {
    expect(verdict({}, { host })).toBe(status);
  });

  test("none at all is refused", () => {
    expect(verdict({}, {})).toBe(403);
  });

  test("the configured host and those that are allowed are accepted, without regard to case and port", () => {
    expect(verdict({ host: "127.0.0.2" }, { host: "127.0.0.2:3000" })).toBe(200);
    expect(verdict({ allowedHosts: ["Goblin.Example"] }, { host: "goblin.example:8080" })).toBe(200);
    expect(verdict({ allowedHosts: ["goblin.example"] }, { host: "other.example" })).toBe(403);
  });

  test("on another interface any name reaches it, until names are given", () => {
    expect(verdict({ host: "0.0.0.0" }, { host: "whatever.example" })).toBe(200);
    expect(verdict({ host: "0.0.0.0", allowedHosts: ["goblin.example"] }, { host: "whatever.example" })).toBe(403);
    expect(verdict({ host: "0.0.0.0", allowedHosts: ["goblin.example"] }, { host: "localhost" })).toBe(200);
  });
});

describe("Origin", () => {
  const host = "localhost";
  test.each([
    ["http://localhost:5173", 200],
    ["http://127.0.0.1", 200],
    ["http://[::1]:1", 200],
    ["https://evil.example", 403],
    ["http://localhost.evil.example", 403],
    ["null", 403],
    ["", 403],
  ])("%s is %i", (origin, status) => {
    expect(verdict({}, { host, origin })).toBe(status);
  });

  test("what is allowed is allowed to the letter", () => {
    const allowedOrigins = ["https://App.example"];
    expect(verdict({ allowedOrigins }, { host, origin: "https://app.example" })).toBe(200);
    expect(verdict({ allowedOrigins }, { host, origin: "http://app.example" })).toBe(403);
    expect(verdict({ allowedOrigins }, { host, origin: "https://app.example:8443" })).toBe(403);
  });
});

describe("tokens", () => {
  const auth = { tokens: ["alpha", "beta"] };
  test.each([
    ["Bearer alpha", 200],
    ["bearer beta", 200],
    ["Bearer  alpha ", 200],
    ["Bearer gamma", 401],
    ["Bearer alph", 401],
    ["Bearer", 401],
    ["Basic alpha", 401],
    ["", 401],
  ])("%j is %i", (authorization, status) => {
    expect(verdict({ auth }, { host: "localhost", authorization })).toBe(status);
  });

  test("each token is somebody else, always the same, and its name does not give it away", () => {
    const principal = (token: string): string => {
      const judged = createGuard(config({ auth }))(
        (name) => ({ host: "localhost", authorization: `Bearer ${token}` })[name],
      );
      return judged.ok ? judged.principal : "";
    };
    expect(principal("alpha")).toBe(principal("alpha"));
    expect(principal("alpha")).not.toBe(principal("beta"));
    expect(principal("alpha")).toMatch(/^token:[0-9a-f]{12}$/);
  });

  test("a foreign Host is refused before the token is looked at", () => {
    expect(verdict({ auth }, { host: "evil.example" })).toBe(403);
  });
});

test.each([
  ["127.0.0.1", true],
  ["127.1.2.3", true],
  ["localhost", true],
  ["::1", true],
  ["0.0.0.0", false],
  ["192.168.1.2", false],
  ["::", false],
])("%s is loopback: %s", (host, loopback) => {
  expect(isLoopback(host)).toBe(loopback);
});

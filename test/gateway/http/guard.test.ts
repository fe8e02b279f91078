import { describe, expect, test } from "vitest";
import { type CredentialRequest, Credentials } from "../../../src/auth/identity/credentials.ts";
import { createGuard, type Guard, type GuardConfig, type Verdict } from "../../../src/front/http/guard.ts";
import { isLoopback } from "../../../src/lib/text/loopback.ts";

const config = (over: Partial<GuardConfig> = {}): GuardConfig => ({
  host: "127.0.0.1",
  allowedHosts: [],
  allowedOrigins: [],
  auth: { tokens: [], clients: {} },
  admin: { tokens: [] },
  ...over,
});

function guard(over: Partial<GuardConfig> = {}): Guard {
  const whole = config(over);
  return createGuard(whole, new Credentials(whole, { now: Date.now, refused() {} }));
}

function asked(headers: Record<string, string>): CredentialRequest {
  return { method: "POST", path: "/mcp", header: (name) => headers[name] };
}

/** Configured tokens are judged at once. */
function atOnce(judged: Verdict | Promise<Verdict>): Verdict {
  if (judged instanceof Promise) throw new Error("judged later");
  return judged;
}

/** 200, or the status of the refusal. */
function verdict(over: Partial<GuardConfig>, headers: Record<string, string>): number {
  const judged = atOnce(guard(over).client(asked(headers)));
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
    ["[::1].evil.example", 403],
    ["[::1].evil.example:3000", 403],
    ["[::1]:3000.evil.example", 403],
    ["[::1", 403],
    ["localhost:3000:3000", 403],
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

  test("one that was allowed makes no other one allowed", () => {
    const one = guard({});
    const hosts = ["localhost", "evil.example", "localhost", "localhost.evil.example", "localhost:1", "evil.example"];
    const judged = [...hosts.map((host) => ({ host })), {}].map((headers) => atOnce(one.client(asked(headers))).ok);
    expect(judged).toEqual([true, false, true, false, true, false, false]);
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
  const auth = { tokens: ["alpha", "beta"], clients: {} };
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
      const judged = atOnce(guard({ auth }).client(asked({ host: "localhost", authorization: `Bearer ${token}` })));
      return judged.ok ? judged.principal.id : "";
    };
    expect(principal("alpha")).toBe(principal("alpha"));
    expect(principal("alpha")).not.toBe(principal("beta"));
    expect(principal("alpha")).toMatch(/^token:[0-9a-f]{12}$/);
  });

  test("a foreign Host is refused before the token is looked at", () => {
    expect(verdict({ auth }, { host: "evil.example" })).toBe(403);
  });
});

describe("the API's own right", () => {
  const auth = { tokens: ["alpha"], clients: {} };
  const admin = { tokens: ["chief"] };
  const judge = (over: Partial<GuardConfig>, token: string | undefined) => {
    const headers: Record<string, string> = { host: "localhost", ...(token && { authorization: `Bearer ${token}` }) };
    const verdict = atOnce(guard(over).admin(asked(headers)));
    return verdict.ok ? 200 : `${verdict.status} ${verdict.message}`;
  };

  test("where no token is asked for at all, it is open; Host and Origin count all the same", () => {
    expect(judge({}, undefined)).toBe(200);
    expect(guard().admin(asked({ host: "evil.example" }))).toMatchObject({ status: 403 });
  });

  test("with tokens for clients alone it is closed, and says what is missing", () => {
    expect(judge({ auth }, undefined)).toBe("401 A bearer token is required");
    expect(judge({ auth }, "other")).toBe("401 The bearer token is not valid");
    expect(judge({ auth }, "alpha")).toBe(
      '403 The API needs an admin token: set "gateway.admin.tokens", or "admin" of a client in "gateway.auth.clients"',
    );
  });

  test("with tokens of its own it takes those and no client's", () => {
    for (const over of [{ auth, admin }, { admin }]) {
      expect(judge(over, undefined)).toBe("401 A bearer token is required");
      expect(judge(over, "chief")).toBe(200);
    }
    expect(judge({ auth, admin }, "alpha")).toBe("403 This token does not open the API: use an admin token");
    expect(judge({ admin }, "alpha")).toBe("401 The bearer token is not valid");
  });

  test("an admin's token is a client's too; tokens of admins alone ask nothing of clients", () => {
    const bearer = { host: "localhost", authorization: "Bearer chief" };
    expect(verdict({ auth, admin }, bearer)).toBe(200);
    expect(verdict({ admin }, { host: "localhost" })).toBe(200);
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
  ["[::1]", true],
  ["127.0.0.1.example.com", false],
  ["127.0.0.999", false],
  ["a.localhost", false],
])("%s is loopback: %s", (host, loopback) => {
  expect(isLoopback(host)).toBe(loopback);
});

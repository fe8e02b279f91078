/** What a flood of new tokens costs an issuer, and for how long what it says is believed. */
import { afterEach, expect, test } from "vitest";
import type { Identified } from "../../../../src/auth/identity/credentials.ts";
import { type IssuerConfig, ResourceServer } from "../../../../src/auth/identity/resource-server.ts";
import { AUDIENCE, type Issuer, startIssuer } from "../../../fixtures/issuer.ts";
import { disposeAll } from "../../../fixtures/peers.ts";
import { until } from "../../../fixtures/until.ts";

afterEach(disposeAll);

function resourceServer(issuer: Issuer, over: Partial<IssuerConfig> = {}) {
  const clock = { now: Date.now() };
  const reasons: string[] = [];
  const config = { issuer: issuer.url, audience: [AUDIENCE], algorithms: ["ES256"], requiredScopes: [], ...over };
  const server = new ResourceServer(
    { issuers: [config] },
    { now: () => clock.now, refused: (reason) => void reasons.push(reason) },
  );
  const asked = { method: "POST", path: "/mcp", header: () => undefined };
  const verify = async (token: string): Promise<Identified> =>
    server.verify({ token, digest: token, isProved: false, asked });
  const why = async (token: string) => {
    const found = await verify(token);
    return found.ok ? "good" : found.why;
  };
  return { clock, reasons, verify, why };
}

const WITH_SECRET = { introspect: { clientId: "goblin", clientSecret: "s:ecret" } };
const metadataReads = ({ asked }: Issuer) => asked.filter((path) => path.startsWith("/.well-known")).length;

test("metadata is read once for JWTs and opaque tokens alike, and after an hour again", async () => {
  const issuer = await startIssuer();
  const { why, clock } = resourceServer(issuer, WITH_SECRET);
  expect(await why(await issuer.sign({ lifeSeconds: 9000 }))).toBe("good");
  for (const token of ["one", "two"]) expect(await why(token)).toBe("invalid");
  expect(metadataReads(issuer)).toBe(1);
  clock.now += 3_600_001;
  expect(await why("three")).toBe("invalid");
  expect(metadataReads(issuer)).toBe(2);
  // If it cannot be read again, the old one is good enough.
  clock.now += 3_600_001;
  issuer.status = 500;
  expect(await why("four")).toBe("unavailable");
  issuer.status = undefined;
  expect(await why("five")).toBe("invalid");
});

test("after a failure nobody asks again, until the cool-down is over", async () => {
  const issuer = await startIssuer();
  const { why, clock } = resourceServer(issuer);
  issuer.status = 500;
  const tokens = await Promise.all([1, 2, 3].map((n) => issuer.sign({ claims: { jti: `${n}` } })));
  expect(await Promise.all(tokens.map(why))).toEqual(["unavailable", "unavailable", "unavailable"]);
  const reads = metadataReads(issuer);
  issuer.status = undefined;
  expect(await why(tokens[0]!)).toBe("unavailable");
  expect(metadataReads(issuer)).toBe(reads);
  clock.now += 5001;
  expect(await why(tokens[0]!)).toBe("good");
});

test("opaque tokens are asked about a few at a time", async () => {
  const issuer = await startIssuer();
  const { verify, why, reasons } = resourceServer(issuer, WITH_SECRET);
  await why("first");
  const release = issuer.hold("/introspect");
  const waiting = Array.from({ length: 50 }, (_, i) => verify(`opaque ${i}`));
  await until(() => issuer.asked.filter((path) => path === "/introspect").length === 51, { what: "all questions" });
  expect(await why("one more")).toBe("unavailable");
  expect(reasons.at(-1)).toMatch(/has 50 questions to answer/);
  release();
  await Promise.all(waiting);
  expect(await why("one more")).toBe("invalid");
});

test("an opaque token ends when its issuer says, though it is asked about every minute", async () => {
  const issuer = await startIssuer();
  const { verify, clock, why } = resourceServer(issuer, WITH_SECRET);
  const exp = Math.floor(Date.now() / 1000) + 600;
  const claims = { active: true, sub: "alice", aud: AUDIENCE };
  issuer.opaque.set("told", { ...claims, exp });
  issuer.opaque.set("untold", claims);
  expect(await verify("told")).toMatchObject({ principal: { expiresAt: exp * 1000 } });
  expect(await verify("untold")).toMatchObject({ principal: { expiresAt: clock.now + 3_600_000 } });
  issuer.opaque.delete("told");
  clock.now += 59_000;
  expect(await why("told")).toBe("good");
  clock.now += 2000;
  expect(await why("told")).toBe("invalid");
});

test.each([
  ["a client certificate", { "x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2" }],
  ["a key and a certificate", { jkt: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I", "x5t#S256": "x" }],
  ["a number in place of a key", { jkt: 7 }],
  ["an empty key", { jkt: "" }],
  ["nothing", {}],
  ["a text", "jkt"],
  ["null", null],
])("A-L3: a token that is bound to %s is not a bearer token", async (_, cnf) => {
  const issuer = await startIssuer();
  const { why, reasons } = resourceServer(issuer);
  expect(await why(await issuer.sign({ claims: { cnf } }))).toBe("invalid");
  expect(reasons).toEqual([expect.stringContaining("only DPoP is (cnf.jkt)")]);
});

test("A-L5: a JWT that names no issuer is shown to none", async () => {
  const issuer = await startIssuer();
  const { why, reasons } = resourceServer(issuer, WITH_SECRET);
  for (const iss of [undefined, 7]) {
    const token = await issuer.sign({ claims: { iss } });
    issuer.opaque.set(token, { active: true, sub: "alice", aud: AUDIENCE });
    expect(await why(token)).toBe("invalid");
  }
  expect(reasons).toEqual(["a token is a JWT that names no issuer", "a token is a JWT that names no issuer"]);
  expect(issuer.asked).toEqual([]);
});

test.each([
  ["Print admins", ["Print admins"]],
  [
    ["Print admins", "staff"],
    ["Print admins", "staff"],
  ],
  ["", []],
])("A-M9: the groups %j are %j", async (groups, expected) => {
  const issuer = await startIssuer();
  const { verify } = resourceServer(issuer);
  expect(await verify(await issuer.sign({ claims: { groups } }))).toMatchObject({ principal: { groups: expected } });
});

test("A-L1: no person's subject is that of a client", async () => {
  const issuer = await startIssuer();
  const { verify, why } = resourceServer(issuer);
  const machine = await verify(await issuer.sign({ claims: { sub: undefined, azp: "batch" } }));
  expect(machine).toMatchObject({ principal: { id: `${issuer.url}\u001fclient batch` } });
  expect(await why(await issuer.sign({ claims: { sub: "client batch" } }))).toBe("invalid");
});

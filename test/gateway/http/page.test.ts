/**
 * The page as the gateway serves it: its files and their policy, who may open it, and that no
 * secret is shown. What it looks like and does in a browser is in `test/page/page.slow.ts`.
 */

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { PageSessions } from "../../../src/auth/identity/page-sessions.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { ANYONE } from "../../../src/mcp/protocol/principal.ts";
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const JSON_TYPE = { "content-type": "application/json" };
const as = (token: string) => ({ ...JSON_TYPE, authorization: `Bearer ${token}` });
const ADMIN = "an-admin-token-0123456789";
const config = (admin: boolean) => ({
  mcpServers: {},
  gateway: {
    port: 0,
    auth: { tokens: ["a-client-token-0123456789"], clients: { ops: { token: "the-ops-token-0123456789", admin } } },
    admin: { tokens: [ADMIN] },
  },
});

/** Opens a session, and returns the headers that a browser with it sends. */
async function logIn({ origin }: RunningGoblin, token: string): Promise<Record<string, string>> {
  const answer = await fetch(`${origin}/ui/session`, { method: "POST", headers: as(token), body: "{}" });
  expect(answer.status).toBe(200);
  const { key } = (await answer.json()) as { key: string };
  return { cookie: answer.headers.getSetCookie()[0]!.split(";")[0]!, "x-goblin-page": key };
}

const stateFor = async ({ origin }: RunningGoblin, headers: Record<string, string>): Promise<number> =>
  (await fetch(`${origin}/api/state`, { headers })).status;

test("the document runs nothing inline, loads nothing from elsewhere and cannot be framed", async () => {
  const { origin } = await startGoblin({ mcpServers: {} });
  const page = await fetch(`${origin}/ui/servers/one`);
  expect(page.headers.get("content-security-policy")).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
      "media-src data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(await page.text()).not.toMatch(/<script>|style=|\son\w+=|https?:/);
  const frame = (await fetch(`${origin}/ui/frame`)).headers.get("content-security-policy");
  expect(frame).toMatch(/^sandbox allow-scripts; default-src 'none'; /);
  expect(frame).not.toContain("connect-src");
  for (const file of ["page.js", "style.css", "icon.svg"]) {
    const first = await fetch(`${origin}/ui/${file}`);
    expect([file, first.status, first.headers.get("x-content-type-options")]).toEqual([file, 200, "nosniff"]);
    const again = await fetch(`${origin}/ui/${file}`, { headers: { "if-none-match": first.headers.get("etag")! } });
    expect(again.status).toBe(304);
  }
  expect((await fetch(`${origin}/ui/..%2f..%2fpackage.json.js`)).status).toBe(404);
  expect((await fetch(`${origin}/`, { headers: { accept: "text/html" }, redirect: "manual" })).status).toBe(302);
  expect((await fetch(`${origin}/`)).status).toBe(404);
});

test("what a browser loads is at most 80 kB", () => {
  const sizes = ["index.html", "page.js", "style.css", "icon.svg"].map(
    (name) => gzipSync(readFileSync(new URL(`../../../bundle/page/${name}`, import.meta.url))).length,
  );
  expect(sizes.reduce((all, one) => all + one)).toBeLessThan(80_000);
});

describe("the session of a browser", () => {
  test("A-L6: opens nothing more after a logout, and another one is not touched", async () => {
    const goblin = await startGoblin(config(true));
    const [mine, other] = [await logIn(goblin, ADMIN), await logIn(goblin, ADMIN)];
    const end = (headers: Record<string, string>) =>
      fetch(`${goblin.origin}/ui/session`, { method: "DELETE", headers });
    // The cookie alone, which a page of another origin could have sent, ends nothing.
    await end({ cookie: mine["cookie"]! });
    expect(await stateFor(goblin, mine)).toBe(200);
    expect((await end(mine)).status).toBe(204);
    expect(await stateFor(goblin, mine)).toBe(401);
    expect(await stateFor(goblin, other)).toBe(200);
  });

  test("A-L6: is sent over TLS only where the public URL is https", async () => {
    const given = config(true);
    const publicUrl = "https://goblin.example";
    const gateway = { ...given.gateway, publicUrl, allowedOrigins: [publicUrl] };
    const { origin } = await startGoblin({ ...given, gateway });
    const cookieAt = async (headers: Record<string, string>) => {
      const answer = await fetch(`${origin}/ui/session`, {
        method: "POST",
        headers: { ...as(ADMIN), ...headers },
        body: "{}",
      });
      return answer.headers.getSetCookie()[0]!;
    };
    expect(await cookieAt({ origin: "https://goblin.example" })).toContain("; Secure");
    // On the machine itself there is no TLS.
    expect(await cookieAt({ origin })).not.toContain("Secure");
  });

  test("needs the cookie and the key; neither opens anything alone", async () => {
    const goblin = await startGoblin(config(true));
    const { cookie, ...key } = await logIn(goblin, ADMIN);
    expect(await stateFor(goblin, { cookie: cookie!, ...key })).toBe(200);
    expect(await stateFor(goblin, { cookie: cookie! })).toBe(401);
    expect(await stateFor(goblin, { cookie: cookie!, "x-goblin-page": "guessed" })).toBe(401);
    expect(await stateFor(goblin, key)).toBe(401);
    const [payload, mark] = cookie!.split(".");
    const claims = JSON.parse(Buffer.from(payload!.split("=")[1]!, "base64url").toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, id: "client:ops" })).toString("base64url");
    expect(await stateFor(goblin, { cookie: `goblin_page=${forged}.${mark}`, ...key })).toBe(401);
    // It opens the API, and not the endpoint of clients.
    expect(
      (await fetch(goblin.url, { method: "POST", headers: { ...JSON_TYPE, cookie: cookie!, ...key } })).status,
    ).toBe(401);
  });

  test("is for admins, and a page of another origin cannot begin one", async () => {
    const goblin = await startGoblin(config(true));
    const begin = (headers: Record<string, string>) =>
      fetch(`${goblin.origin}/ui/session`, { method: "POST", headers, body: "{}" });
    expect((await begin(as("a-client-token-0123456789"))).status).toBe(403);
    expect((await begin({ ...as(ADMIN), origin: "https://evil.example" })).status).toBe(403);
    expect((await begin({ ...as(ADMIN), "content-type": "text/plain" })).status).toBe(415);
  });

  test("ends when the config no longer makes its owner an admin", async () => {
    const goblin = await startGoblin(config(true));
    const headers = await logIn(goblin, "the-ops-token-0123456789");
    expect(await stateFor(goblin, headers)).toBe(200);
    const next = parseConfig(JSON.stringify(config(false)), { file: "test.json", env: {} }).config;
    await goblin.gateway.reload(next).done;
    expect(await stateFor(goblin, headers)).not.toBe(200);
  });

  test("a code opens one, once and in time; a credential that ends takes its session along", () => {
    let now = 1_000_000;
    const pages = new PageSessions(
      (text) => `${text.length}`,
      () => now,
    );
    const admin = { ...ANYONE, id: "a", name: "a", isAdmin: true, expiresAt: now + 60_000 };
    const code = pages.code(admin);
    expect(pages.redeem(code)).toBe(admin);
    expect(pages.redeem(code)).toBeUndefined();
    const late = pages.code(admin);
    now += 3 * 60_000;
    expect(pages.redeem(late)).toBeUndefined();
    now = 1_000_000;
    const { cookie, key, seconds } = pages.open(admin);
    expect(seconds).toBe(60);
    const header = (name: string) => ({ cookie: `x=1; goblin_page=${cookie}`, "x-goblin-page": key })[name];
    expect(pages.principal({ header })?.id).toBe("a");
    now += 61_000;
    expect(pages.principal({ header })).toBeUndefined();
    // Codes that nobody uses do not add up.
    const codes = Array.from({ length: 150 }, () => pages.code(admin));
    expect(codes.filter((one) => pages.redeem(one)).length).toBeLessThanOrEqual(100);
  });
});

test("the config is shown with its defaults and without its secrets", async () => {
  const server = await startScripted({ name: "one" });
  const entry = { ...server.entry, env: { API_KEY: "a-secret-of-the-env" } };
  const { origin } = await startGoblin({
    mcpServers: {
      one: { ...entry, args: [...(entry as unknown as { args: string[] }).args, "--token=a-secret-argument"] },
      far: {
        url: "http://127.0.0.1:9/mcp?key=a-secret-in-a-url",
        headers: { Authorization: "Bearer a-secret-header" },
      },
    },
    gateway: { admin: { tokens: [ADMIN] }, auth: { clients: { ops: { token: "a-secret-of-a-client", admin: true } } } },
  });
  const answer = await fetch(`${origin}/api/config`, { headers: as(ADMIN) });
  const text = await answer.text();
  expect(JSON.parse(text)).toMatchObject({ mcpServers: { one: {}, far: {} }, limits: { bodyBytes: 4194304 } });
  expect(text).not.toContain("a-secret");
  expect(text).not.toContain(ADMIN);
});

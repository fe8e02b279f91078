/**
 * A public MCP server that wants the gateway to ask something inside of its network: by redirects,
 * by metadata, and by names that lead elsewhere a moment later.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { beginLogin } from "../../src/auth/login/attempt.ts";
import { createGuard, type Guard } from "../../src/auth/login/guarded-fetch.ts";
import { type Login, LoginStore } from "../../src/auth/login/store.ts";
import { renew } from "../../src/auth/login/tokens/renewal.ts";
import { revoke } from "../../src/auth/login/tokens/revocation.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { stateEnv, targetOf } from "../fixtures/logins.ts";
import { type Malicious, METADATA, PRM, startMalicious } from "../fixtures/malicious.ts";
import { namesOf } from "../fixtures/names.ts";

afterEach(disposeAll);

const PUBLIC = ["93.184.215.14"];
const INSIDE = ["127.0.0.1"];
const REDIRECT = "http://127.0.0.1:33997/callback";

let server: Malicious;
/** What nobody outside may reach. */
let inside: Malicious;
let store: LoginStore;

beforeEach(async () => {
  [server, inside] = await Promise.all([startMalicious(), startMalicious()]);
  store = await LoginStore.open(stateEnv());
});

function begin(guard: Guard, url = server.url) {
  const target = targetOf(url);
  const rest = { challenge: undefined, metadataUrl: undefined, principal: "", redirectUri: async () => REDIRECT };
  return beginLogin({ target, guard, store, ...rest });
}

test.each([301, 302, 303, 307, 308])("a redirect (%i) of any step is not followed", async (status) => {
  const away = (path: string) => ({ status, headers: { location: `${inside.origin}${path}` } });
  const guard = await createGuard([server.url]);
  for (const path of [PRM, METADATA, "/register"]) {
    const honest = server.answers.get(path)!;
    server.answers.set(path, away(path));
    await expect(begin(guard)).rejects.toThrow(/^Login to server "remote": /);
    server.answers.set(path, honest);
  }
  server.answers.set("/token", away("/token"));
  const attempt = await begin(guard);
  const back = new URL(REDIRECT);
  back.search = String(new URLSearchParams({ code: "c0de", state: attempt.state, iss: server.origin }));
  await expect(attempt.finish(back)).rejects.toThrow(/getting a token at .+\. Nothing was stored\. Log in again\.$/);
  expect(inside.asked).toEqual([]);
  expect((await store.read()).logins).toEqual([]);
});

test("a public server cannot lead to plain HTTP at its own name", async () => {
  const look = namesOf({ "mcp.example": [PUBLIC] });
  const guard = await createGuard(["https://mcp.example/mcp"], { look });
  expect(() => guard.check("http://mcp.example/token")).toThrow("http://mcp.example/token is not an https URL");
  expect(guard.check("https://mcp.example:8443/token").port).toBe("8443");
});

test("a name that is public first and private later leads nowhere inside", async () => {
  const { port } = new URL(inside.origin);
  // Nothing listens at the public address of the test, so the request fails; it must not arrive
  // inside.
  const look = namesOf({ "mcp.example": [["192.0.2.1"], INSIDE] });
  const guard = await createGuard(["https://mcp.example/mcp"], { look, timeoutMs: 300 });
  await expect(guard.fetch(`https://mcp.example:${port}/token`, { method: "POST" })).rejects.toThrow();
  expect(inside.connections()).toBe(0);
});

test("a name that is private first and public later opens nothing inside", async () => {
  const { port } = new URL(server.origin);
  const look = namesOf({ "mcp.example": [INSIDE, PUBLIC], "other.example": [INSIDE] });
  const guard = await createGuard([`http://mcp.example:${port}/mcp`], { look });
  // The guard took it for a private server, so it stays one: what it answers is what is inside.
  await guard.fetch(`http://mcp.example:${port}${METADATA}`);
  await guard.fetch(`http://mcp.example:${port}${METADATA}`);
  expect(server.asked).toEqual([`GET ${METADATA}`, `GET ${METADATA}`]);
});

test("of the addresses of a name with both kinds, only the public ones are used", async () => {
  const { port } = new URL(inside.origin);
  const look = namesOf({ "mcp.example": [[...INSIDE, "192.0.2.1"]] });
  const guard = await createGuard(["https://mcp.example/mcp"], { look, timeoutMs: 300 });
  await expect(guard.fetch(`https://mcp.example:${port}/`)).rejects.toThrow();
  expect(inside.connections()).toBe(0);
});

test("an issuer that only metadata names is not exempt when a token is renewed or revoked", async () => {
  const { port } = new URL(inside.origin);
  const issuer = `https://issuer.example:${port}`;
  const login: Login = {
    url: "https://mcp.example/mcp",
    issuer,
    resource: "https://mcp.example/mcp",
    principal: "",
    client: { clientId: "goblin", method: "none", redirectUri: REDIRECT },
    tokenEndpoint: `${issuer}/token`,
    revocationEndpoint: `${issuer}/revoke`,
    namesResource: true,
    loggedInAt: 1,
    accessToken: "access",
    refreshToken: "refresh",
    obtainedAt: 1,
    scopes: [],
  };
  const look = namesOf({ "mcp.example": [PUBLIC], "issuer.example": [INSIDE] });
  const guard = await createGuard([login.url], { look });
  const refusal = "issuer.example is a private address, where nothing public may lead";
  await expect(renew(login, guard)).rejects.toThrow(refusal);
  expect(await revoke(login, guard)).toBe(refusal);
  expect(inside.connections()).toBe(0);
});

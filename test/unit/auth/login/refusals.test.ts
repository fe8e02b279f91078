import type { LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { beginLogin, type LoginAttempt } from "../../../../src/auth/login/attempt.ts";
import { readChallenge } from "../../../../src/auth/login/challenge.ts";
import { createGuard } from "../../../../src/auth/login/guarded-fetch.ts";
import { LoginStore } from "../../../../src/auth/login/store.ts";
import { isPrivateAddress } from "../../../../src/lib/text/private-address.ts";
import { disposeAll } from "../../../fixtures/dispose.ts";
import { stateEnv, targetOf } from "../../../fixtures/logins.ts";
import { type Malicious, METADATA, PRM, startMalicious } from "../../../fixtures/malicious.ts";
import { namesOf } from "../../../fixtures/names.ts";

afterEach(disposeAll);

const REDIRECT = "http://127.0.0.1:33998/callback";

let server: Malicious;
let store: LoginStore;

beforeEach(async () => {
  server = await startMalicious();
  store = await LoginStore.open(stateEnv());
});

interface Given {
  readonly url?: string;
  readonly auth?: Record<string, unknown>;
  readonly challenge?: string;
  readonly metadataUrl?: string;
  readonly timeoutMs?: number;
  readonly look?: LookupFunction;
}

async function begin(given: Given = {}): Promise<LoginAttempt> {
  const { url = server.url, auth = {}, challenge, metadataUrl, timeoutMs, look } = given;
  return beginLogin({
    target: targetOf(url, auth),
    guard: await createGuard([url], { timeoutMs, ...(look && { look }) }),
    store,
    challenge: readChallenge(challenge),
    redirectUri: async () => REDIRECT,
    metadataUrl,
    principal: "",
  });
}

/** The browser comes back with these parameters, and what an honest server would add. */
async function comeBack(parameters: Record<string, string | undefined>): Promise<unknown> {
  const attempt = await begin();
  const url = new URL(REDIRECT);
  const all = { code: "c0de", state: attempt.state, iss: server.origin, ...parameters };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) url.searchParams.set(name, value);
  return attempt.finish(url);
}

/** A sentence that names the server, the step and the remedy; and nothing was stored. */
async function expectRefusal(attempt: Promise<unknown>, step: RegExp, what: RegExp): Promise<void> {
  const error = await attempt.then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  expect(error?.message).toMatch(/^Login to server "remote": .+\. [A-Z][^\n]+\.$/);
  expect(error?.message).toMatch(step);
  expect(error?.message).toMatch(what);
  expect((await store.read()).logins).toEqual([]);
}

test("an honest server gets PKCE, the resource and its own registration", async () => {
  const attempt = await begin();
  const asked = new URL(attempt.url).searchParams;
  expect(Object.fromEntries(asked)).toMatchObject({
    client_id: "made",
    response_type: "code",
    redirect_uri: REDIRECT,
    code_challenge_method: "S256",
    resource: server.url,
  });
  await comeBack({});
  const [sent] = server.tokenRequests;
  expect(sent?.get("resource")).toBe(server.url);
  expect(sent?.get("code_verifier")).toMatch(/^[\w-]{43,}$/);
  expect((await store.read()).logins).toMatchObject([{ accessToken: "stolen", issuer: server.origin }]);
});

describe("metadata", () => {
  test.each([
    ["of another server", PRM, { resource: "https://other.example/mcp" }, /metadata/, /it is for "https:\/\/other/],
    ["without an authorization server", PRM, { authorization_servers: [] }, /choosing/, /names none/],
    ["of another issuer", METADATA, { issuer: "https://evil.example" }, /reading the metadata/, /another issuer/],
    ["of nearly the same issuer", METADATA, { issuer: "ORIGIN/" }, /reading the metadata/, /another issuer/],
    ["without a token endpoint", METADATA, { token_endpoint: undefined }, /metadata/, /no token_endpoint/],
    ["without PKCE", METADATA, { code_challenge_methods_supported: undefined }, /metadata/, /PKCE/],
    ["with plain PKCE only", METADATA, { code_challenge_methods_supported: ["plain"] }, /metadata/, /PKCE/],
    ["that would run a program", METADATA, { authorization_endpoint: "file:///bin/sh" }, /metadata/, /not an https/],
    [
      "with a script as the login page",
      METADATA,
      { authorization_endpoint: "javascript:alert(1)" },
      /metadata/,
      /https/,
    ],
  ])("%s is refused", async (_, path, members, step, what) => {
    server.forge(path, JSON.parse(JSON.stringify(members).replace("ORIGIN", server.origin)));
    if ("token_endpoint" in members) server.forge(path, { token_endpoint: null });
    if ("code_challenge_methods_supported" in members && !members.code_challenge_methods_supported) {
      server.forge(path, { code_challenge_methods_supported: null });
    }
    await expectRefusal(begin(), step, what);
    expect(server.asked.filter((one) => one.startsWith("POST"))).toEqual([]);
  });

  test.each([
    ["HTML", { body: "<html>no</html>" }, /not a JSON object/],
    ["a redirect", { status: 302, headers: { location: "https://evil.example/" } }, /HTTP 302/],
    ["an error", { status: 500, body: "no" }, /HTTP 500/],
    ["more than a megabyte", { body: "x".repeat(1_100_000) }, /more than 1048576 bytes/],
  ])("that is %s is refused", async (_, answer, what) => {
    server.answers.set(METADATA, answer);
    await expectRefusal(begin(), /reading http/, what);
  });

  test("of a public server leads to no private address and to no plain HTTP", async () => {
    const url = "https://93.184.215.14/mcp";
    const at = (place: string): Given => ({ url, challenge: `Bearer resource_metadata="${place}"` });
    const { port } = new URL(server.origin);
    await expectRefusal(begin(at(`https://127.0.0.1:${port}${PRM}`)), /reading https/, /private address/);
    await expectRefusal(begin(at(`https://localhost:${port}${PRM}`)), /reading https/, /private address/);
    await expectRefusal(begin(at(`https://[::1]:${port}${PRM}`)), /reading https/, /private address/);
    await expectRefusal(begin(at(`https://[::ffff:127.0.0.1]:${port}/`)), /reading https/, /private address/);
    await expectRefusal(begin(at("https://169.254.169.254/latest")), /reading https/, /private address/);
    await expectRefusal(begin(at("http://93.184.215.15/prm")), /reading http/, /not an https URL/);
    expect(server.asked).toEqual([]);
  });

  test("of a public server without TLS is not even read", async () => {
    await expectRefusal(begin({ url: "http://93.184.215.14/mcp" }), /checking the server's address/, /without TLS/);
  });

  test("is looked for in the prescribed order", async () => {
    server.answers.delete(PRM);
    server.forge(METADATA, { issuer: server.origin });
    await begin();
    expect(server.asked.slice(0, 3)).toEqual([
      `GET ${PRM}`,
      "GET /.well-known/oauth-protected-resource",
      `GET ${METADATA}`,
    ]);
    server.asked.length = 0;
    server.answers.set(PRM, {
      body: { resource: server.url, authorization_servers: [`${server.origin}/tenant`] },
    });
    await expectRefusal(begin(), /reading the metadata/, /it has none/);
    expect(server.asked).toEqual([
      `GET ${PRM}`,
      `GET ${METADATA}/tenant`,
      "GET /.well-known/openid-configuration/tenant",
      "GET /tenant/.well-known/openid-configuration",
    ]);
  });
});

test("a server that does not accept the configured issuer is named, and the issuer is not asked", async () => {
  const other = await startMalicious();
  await expectRefusal(begin({ auth: { issuer: other.origin } }), /choosing/, /the config has the issuer http/);
  expect(other.asked).toEqual([]);
});

test("metadata of a public issuer leads no token request to a private address", async () => {
  const guard = await createGuard(["https://93.184.215.14/mcp"]);
  for (const inside of ["https://127.0.0.1/token", "https://10.0.0.8/token", "https://[fd00::1]/token"]) {
    expect(() => guard.check(inside)).toThrow("is a private address, where nothing public may lead");
  }
  expect(() => guard.check("https://user:secret@93.184.215.15/")).toThrow("a user name or a password");
});

describe("a server in a private network", () => {
  const LAN = "http://10.1.2.3/mcp";
  const refusal = /is this machine, where only the config may lead/;

  test("leads to its neighbors, but not to this machine (A-M7)", async () => {
    const guard = await createGuard([LAN]);
    expect(guard.check("http://10.1.2.9/token").href).toBe("http://10.1.2.9/token");
    for (const host of [
      "127.0.0.1",
      "127.9.9.9",
      "0.0.0.0",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[64:ff9b::7f00:1]",
    ]) {
      expect(() => guard.check(`http://${host}:3000/api/servers/bank/disable`), host).toThrow(refusal);
    }
    const { port } = new URL(server.origin);
    await expect(guard.fetch(`http://localhost:${port}/register`, { method: "POST" })).rejects.toThrow(refusal);
    const look = namesOf({ "mcp.lan": [["10.1.2.3"]], "own.lan": [["127.0.0.1"]] });
    const named = await createGuard(["http://mcp.lan/mcp"], { look });
    await expect(named.fetch(`http://own.lan:${port}/register`, { method: "POST" })).rejects.toThrow(refusal);
    expect(server.asked).toEqual([]);
  });

  test("is not this machine because its name also has an address of it (A-M7)", async () => {
    const look = namesOf({ "mcp.lan": [["10.1.2.3", "127.0.0.1"]] });
    const guard = await createGuard(["http://mcp.lan/mcp"], { look });
    expect(() => guard.check(`${server.origin}/register`)).toThrow(refusal);
  });

  test("leads to this machine if the config names it (A-M7)", async () => {
    const guard = await createGuard([LAN, server.origin]);
    expect((await guard.fetch(`${server.origin}${METADATA}`)).status).toBe(200);
    const local = await createGuard([server.url]);
    expect(local.check("http://[::1]:9/token").hostname).toBe("[::1]");
  });

  test("does not lead to other addresses of this machine (A-M7)", async () => {
    const own = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
    const inside = own.find(
      ({ address, internal }) => !internal && isPrivateAddress(address) && !/^fe80/.test(address),
    );
    // Not every machine has one.
    if (!inside) return;
    const origin = `http://${inside.family === "IPv6" ? `[${inside.address}]` : inside.address}`;
    const guard = await createGuard([LAN]);
    expect(() => guard.check(`${origin}/token`)).toThrow(refusal);
    const named = await createGuard([LAN, origin]);
    expect(named.check(`${origin}:81/token`).port).toBe("81");
  });
});

describe("a name", () => {
  const PUBLIC = ["93.184.215.14"];
  const INSIDE = ["127.0.0.1"];
  const refusal = (name: string) => `${name} is a private address, where nothing public may lead`;

  test("that resolves to a private address is refused in what a public server names", async () => {
    const look = namesOf({
      "mcp.example": [PUBLIC],
      "inside.example": [INSIDE],
      "both.example": [[...PUBLIC, ...INSIDE]],
    });
    const { port } = new URL(server.origin);
    const url = "https://mcp.example/mcp";
    const challenge = `Bearer resource_metadata="https://inside.example:${port}${PRM}"`;
    await expectRefusal(begin({ url, challenge, look }), /reading https/, /inside\.example is a private address/);
    const guard = await createGuard([url], { look });
    for (const name of ["inside.example", "both.example"]) {
      for (const path of ["register", "token"]) {
        const sent = guard.fetch(`https://${name}:${port}/${path}`, { method: "POST", body: "{}" });
        await expect(sent).rejects.toThrow(refusal(name));
      }
    }
    expect(server.asked).toEqual([]);
  });

  test("is looked up once for each request, and the socket goes to the address that was checked", async () => {
    const { port } = new URL(server.origin);
    const local = namesOf({ "mcp.internal": [INSIDE], "auth.internal": [INSIDE, PUBLIC] });
    const within = await createGuard(["http://mcp.internal/mcp"], { look: local });
    expect((await within.fetch(`http://auth.internal:${port}${METADATA}`)).status).toBe(200);
    // A name that was public a moment ago gains nothing.
    const look = namesOf({ "mcp.example": [PUBLIC], "moving.example": [PUBLIC, INSIDE] });
    look("moving.example", {}, () => {});
    const guard = await createGuard(["https://mcp.example/mcp"], { look });
    await expect(guard.fetch(`https://moving.example:${port}/token`)).rejects.toThrow(refusal("moving.example"));
  });

  test("of a public server that also has a private address opens nothing inside", async () => {
    const look = namesOf({ "mcp.example": [[...PUBLIC, ...INSIDE]], "inside.example": [INSIDE] });
    const guard = await createGuard(["https://mcp.example/mcp"], { look });
    const { port } = new URL(server.origin);
    expect(() => guard.check(`https://127.0.0.1:${port}/token`)).toThrow(refusal("127.0.0.1"));
    await expect(guard.fetch(`https://inside.example:${port}/token`)).rejects.toThrow(refusal("inside.example"));
    expect(server.asked).toEqual([]);
  });
});

test("an issuer that changes after the login has begun gets neither the code nor the verifier", async () => {
  const attempt = await begin();
  const evil = await startMalicious();
  server.forge(METADATA, { issuer: evil.origin, token_endpoint: `${evil.origin}/token` });
  const url = new URL(REDIRECT);
  for (const [name, value] of [
    ["code", "c0de"],
    ["state", attempt.state],
    ["iss", evil.origin],
  ] as const) {
    url.searchParams.set(name, value);
  }
  await expectRefusal(attempt.finish(url), /redirect of the browser/, /iss/);
  expect([...evil.asked, ...server.tokenRequests]).toEqual([]);
});

describe("the redirect", () => {
  test.each([
    ["with another state", { state: "guessed" }, /state/],
    ["of another issuer", { iss: "https://evil.example" }, /iss/],
    ["without its issuer", { iss: undefined }, /iss/],
    ["without a code", { code: undefined }, /code/],
  ])("%s is refused", async (_, parameters, what) => {
    await expectRefusal(comeBack(parameters), /redirect of the browser|getting a token/, what);
    expect(server.tokenRequests).toEqual([]);
  });

  test("with an error says what the user may do", async () => {
    const refused = comeBack({ code: undefined, error: "access_denied" });
    await expectRefusal(refused, /redirect/, /"access_denied"\. Log in again and agree\.$/);
  });
});

describe("the token endpoint", () => {
  test.each([
    ["HTML", { body: "<html>no</html>" }, /cannot be used/],
    ["an error", { status: 400, body: { error: "invalid_grant" } }, /"invalid_grant"/],
    ["no token", { body: { token_type: "Bearer" } }, /access_token/],
    ["a token of an unknown kind", { body: { access_token: "x", token_type: "mac" } }, /token_type/],
    ["a redirect", { status: 307, headers: { location: "https://evil.example/token" } }, /HTTP 307/],
  ])("that answers with %s is refused", async (_, answer, what) => {
    server.answers.set("/token", answer);
    await expectRefusal(comeBack({}), /getting a token at http/, what);
  });
});

test("an authorization server that never answers is given up, whatever it was asked, and nothing is stored", async () => {
  const given = (url: string): Given => ({ url, timeoutMs: 2000 });
  const late = /no answer within 2000 ms/;
  const [forMetadata, forRegistration] = [await startMalicious(), await startMalicious()];
  forMetadata.answers.set(METADATA, { status: 0 });
  forRegistration.answers.set("/register", { status: 0 });
  const attempt = await begin(given(server.url));
  server.answers.set("/token", { status: 0 });
  const redirect = new URL(REDIRECT);
  redirect.search = new URLSearchParams({ code: "c0de", state: attempt.state, iss: server.origin }).toString();
  await Promise.all([
    expectRefusal(begin(given(forMetadata.url)), /reading http/, late),
    expectRefusal(begin(given(forRegistration.url)), /registering at http/, late),
    expectRefusal(attempt.finish(redirect), /getting a token at http/, late),
  ]);
});

describe("registration", () => {
  test.each([
    ["HTML", { body: "<html>no</html>" }, /cannot be used/],
    ["an error", { status: 400, body: { error: "invalid_redirect_uri" } }, /"invalid_redirect_uri"/],
    ["no client", { status: 201, body: {} }, /client_id/],
    ["a redirect", { status: 302, headers: { location: "https://evil.example/register" } }, /HTTP 302/],
  ])("that is answered with %s is refused", async (_, answer, what) => {
    server.answers.set("/register", answer);
    await expectRefusal(begin(), /registering at http/, what);
  });

  test("takes the client of the config first, then the document, then registers", async () => {
    const idOf = ({ url }: LoginAttempt): string | null => new URL(url).searchParams.get("client_id");
    const metadataUrl = "https://goblin.example/client.json";
    expect(idOf(await begin({ metadataUrl }))).toBe("made");
    const supports = (isTold: boolean) => ({
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: isTold,
    });
    server.forge(METADATA, supports(false));
    // All know the redirect of a shared document: only one that says who answers may have it.
    expect(idOf(await begin({ metadataUrl }))).toBe("made");
    server.forge(METADATA, supports(true));
    expect(idOf(await begin({ metadataUrl }))).toBe(metadataUrl);
    expect(idOf(await begin({ metadataUrl, auth: { clientId: "mine" } }))).toBe("mine");
    expect(server.asked.filter((one) => one === "POST /register")).toHaveLength(1);
  });

  test.each([
    ["no end of its secret", 201, { client_secret: "s" }],
    ["null as the end of its secret", 201, { client_secret: "s", client_secret_expires_at: null }],
    ["the status 200", 200, { client_secret: "s", client_secret_expires_at: 0 }],
    ["null in place of a secret", 201, { client_secret: null }],
  ])("that is answered with %s is good for a login (C2)", async (_, status, members) => {
    server.answers.set("/register", { status, body: { client_id: "made", ...members } });
    await comeBack({});
    const { client } = (await store.read()).logins[0]!;
    expect(client.clientSecret).toBe(members.client_secret ?? undefined);
    expect(client.secretExpiresAt).toBeUndefined();
  });

  test("asks for a secret in the body where both ways are possible, as the Python SDK needs it (C2)", async () => {
    const methods = ["client_secret_basic", "client_secret_post"];
    server.forge(METADATA, { token_endpoint_auth_methods_supported: methods });
    await begin();
    expect(server.registrations).toMatchObject([{ token_endpoint_auth_method: "client_secret_post" }]);
  });

  test("that is not possible says what to configure", async () => {
    server.forge(METADATA, { registration_endpoint: undefined });
    await expectRefusal(begin(), /registering at/, /Register a client there with the redirect URL .+"auth.clientId"/);
  });
});

describe("a server without any OAuth metadata", () => {
  beforeEach(() => {
    server.answers.delete(PRM);
    server.answers.delete(METADATA);
  });

  test("has its login at the paths of 2025-03-26 (C7)", async () => {
    const attempt = await begin();
    expect(attempt.url).toMatch(new RegExp(`^${server.origin}/authorize\\?`));
    const redirect = new URL(REDIRECT);
    redirect.search = new URLSearchParams({ code: "c0de", state: attempt.state }).toString();
    await attempt.finish(redirect);
    expect(server.asked.filter((one) => one.startsWith("POST"))).toEqual(["POST /register", "POST /token"]);
    expect((await store.read()).logins).toMatchObject([{ accessToken: "stolen", issuer: server.origin }]);
  });

  test("and without these paths is named, with what may be wrong (C7)", async () => {
    server.answers.delete("/register");
    await expectRefusal(begin(), /looking for a login at http/, /it has no OAuth metadata, .+\/register does not work/);
  });

  test("of which another issuer is configured is not guessed at (C7)", async () => {
    const other = await startMalicious();
    other.answers.delete(METADATA);
    await expectRefusal(begin({ auth: { issuer: other.origin } }), /reading the metadata of http/, /it has none/);
    expect(other.asked.filter((one) => one.startsWith("POST"))).toEqual([]);
  });
});

test("an issuer that nobody named may end with a slash, as that of the Python SDK does (C2)", async () => {
  server.answers.delete(PRM);
  server.forge(METADATA, { issuer: `${server.origin}/` });
  expect((await begin()).issuer).toBe(`${server.origin}/`);
});

test("the resource can be left out or chosen", async () => {
  const resourceOf = ({ url }: LoginAttempt): string | null => new URL(url).searchParams.get("resource");
  expect(resourceOf(await begin({ auth: { resource: false } }))).toBeNull();
  expect(resourceOf(await begin({ auth: { resource: "https://api.example/" } }))).toBe("https://api.example/");
});

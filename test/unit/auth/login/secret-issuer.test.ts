import { afterEach, beforeEach, expect, test } from "vitest";
import { type AttemptOptions, beginLogin, type LoginAttempt } from "../../../../src/auth/login/attempt.ts";
import { beginDeviceLogin } from "../../../../src/auth/login/grants/device.ts";
import { createGuard } from "../../../../src/auth/login/guarded-fetch.ts";
import { LoginStore } from "../../../../src/auth/login/store.ts";
import { basicCredentials } from "../../../../src/lib/text/basic-credentials.ts";
import { disposeAll } from "../../../fixtures/dispose.ts";
import { stateEnv, targetOf } from "../../../fixtures/logins.ts";
import { type Malicious, METADATA, PRM, startMalicious } from "../../../fixtures/malicious.ts";

const REDIRECT = "http://127.0.0.1:33997/callback";
const AUTH = { clientId: "goblin", clientSecret: "of-the-config" };

let server: Malicious;
let other: Malicious;
let env: { XDG_STATE_HOME: string };

beforeEach(async () => {
  [server, other] = await Promise.all([startMalicious(), startMalicious()]);
  env = stateEnv();
});

afterEach(disposeAll);

type Given = Pick<AttemptOptions, "confirmedIssuer"> & { readonly auth?: Record<string, unknown> };

async function optionsFor({ auth = AUTH, confirmedIssuer }: Given) {
  return {
    target: targetOf(server.url, auth, "crm"),
    guard: await createGuard([server.url]),
    store: await LoginStore.open(env),
    challenge: undefined,
    metadataUrl: undefined,
    principal: "",
    confirmedIssuer,
  };
}

async function begin(given: Given = {}): Promise<LoginAttempt> {
  return beginLogin({ ...(await optionsFor(given)), redirectUri: async () => REDIRECT });
}

async function logIn(given: Given = {}): Promise<void> {
  const attempt = await begin(given);
  const redirect = new URL(REDIRECT);
  redirect.search = new URLSearchParams({ code: "c0de", state: attempt.state, iss: attempt.issuer }).toString();
  await attempt.finish(redirect);
}

/** From now on, the server names an issuer of its own choice. */
function nameOther(): void {
  server.forge(PRM, { authorization_servers: [other.origin] });
}

const changed = (): string =>
  `Login to server "crm": choosing the authorization server: the client secret of the config belongs to ` +
  `${server.origin}, but the server now names ${other.origin}. Set "auth.issuer" in the server's config to the ` +
  `right one, or confirm the change with "goblin login crm".`;

test("A-H3: the client secret goes to the issuer of the first login, and to no other that the server names", async () => {
  await logIn();
  expect(server.tokenCredentials).toEqual([`Basic ${btoa("goblin:of-the-config")}`]);
  nameOther();
  await expect(logIn()).rejects.toThrow(changed());
  expect(other.tokenRequests).toEqual([]);
});

test("A-H3: a logout does not make the next issuer the first one", async () => {
  await logIn();
  const store = await LoginStore.open(env);
  await store.change((book) => ({ ...book, logins: [] }));
  nameOther();
  await expect(begin()).rejects.toThrow(changed());
});

test("A-H3: a login from before issuers were pinned counts as the first one", async () => {
  await logIn();
  const store = await LoginStore.open(env);
  await store.change((book) => ({ ...book, issuers: {} }));
  nameOther();
  await expect(begin()).rejects.toThrow(changed());
});

test("A-H3: a person may let another issuer have the secret, and that one is then the only one", async () => {
  await logIn();
  nameOther();
  await logIn({ confirmedIssuer: other.origin });
  expect(other.tokenCredentials).toHaveLength(1);
  await logIn();
  expect(other.tokenCredentials).toHaveLength(2);
  server.forge(PRM, { authorization_servers: [server.origin] });
  await expect(begin()).rejects.toThrow(`belongs to ${other.origin}, but the server now names ${server.origin}`);
});

test("A-H3: of two logins that began before there was a first issuer, only the first one ends", async () => {
  const first = await begin();
  nameOther();
  const second = await begin();
  const back = ({ state, issuer }: LoginAttempt): URL => {
    const query = new URLSearchParams({ code: "c0de", state, iss: issuer });
    return new URL(`${REDIRECT}?${query}`);
  };
  await first.finish(back(first));
  await expect(second.finish(back(second))).rejects.toThrow(changed());
  expect(other.tokenRequests).toEqual([]);
});

test("A-H3: a login that was given up leaves no issuer behind", async () => {
  nameOther();
  await begin();
  server.forge(PRM, { authorization_servers: [server.origin] });
  await logIn();
  expect(server.tokenCredentials).toHaveLength(1);
});

test("A-H3: a login on another device sends the secret to no other issuer either", async () => {
  await logIn();
  other.forge(METADATA, { device_authorization_endpoint: `${other.origin}/device` });
  nameOther();
  await expect(beginDeviceLogin(await optionsFor({}))).rejects.toThrow(changed());
  expect(other.asked.filter((one) => one.startsWith("POST"))).toEqual([]);
});

test("A-H3: a server that gets no secret of the config may move to another issuer", async () => {
  await logIn({ auth: {} });
  nameOther();
  await logIn({ auth: {} });
  expect(other.tokenCredentials).toEqual([""]);
});

test("C5: credentials keep the characters that servers do not decode, and encode the others for all decoders", () => {
  expect(basicCredentials("my-client_1.0", "a-b_c.d~e")).toBe(`Basic ${btoa("my-client_1.0:a-b_c.d~e")}`);
  expect(basicCredentials("a:b", "p+q r%ü")).toBe(`Basic ${btoa("a%3Ab:p%2Bq%20r%25%C3%BC")}`);
});

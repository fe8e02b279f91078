import { afterEach, beforeEach, expect, test } from "vitest";
import { readChallenge } from "../../../../src/auth/login/challenge.ts";
import { beginDeviceLogin, type DeviceLogin } from "../../../../src/auth/login/grants/device.ts";
import { createGuard } from "../../../../src/auth/login/guarded-fetch.ts";
import { LoginStore } from "../../../../src/auth/login/store.ts";
import { disposeAll } from "../../../fixtures/dispose.ts";
import { stateEnv, targetOf } from "../../../fixtures/logins.ts";
import { type Malicious, METADATA, startMalicious } from "../../../fixtures/malicious.ts";

let server: Malicious;
let store: LoginStore;

beforeEach(async () => {
  server = await startMalicious();
  store = await LoginStore.open(stateEnv());
  server.forge(METADATA, { device_authorization_endpoint: `${server.origin}/device` });
  const verification_uri = `${server.origin}/enter`;
  server.answers.set("/device", {
    body: { device_code: "d", user_code: "ABCD-EFGH", verification_uri, expires_in: 600, interval: 1 },
  });
});

afterEach(disposeAll);

async function begin(): Promise<DeviceLogin> {
  const target = targetOf(server.url);
  const guard = await createGuard([server.url]);
  return beginDeviceLogin({
    target,
    guard,
    store,
    challenge: readChallenge(undefined),
    metadataUrl: undefined,
    principal: "",
  });
}

test("registers for this alone, and names the resource in both requests", async () => {
  const login = await begin();
  expect(login).toMatchObject({ userCode: "ABCD-EFGH", url: `${server.origin}/enter`, completeUrl: undefined });
  await login.finish();
  expect(Object.fromEntries(server.tokenRequests[0]!)).toMatchObject({ device_code: "d", resource: server.url });
  expect((await store.read()).logins).toMatchObject([{ accessToken: "stolen" }]);
});

test.each([
  [
    "a server without it",
    { device_authorization_endpoint: undefined },
    undefined,
    /has no login on another device\. Log in without --device\./,
  ],
  ["an address that is no web page", {}, { verification_uri: "javascript:alert(1)" }, /is not an https URL/],
  ["HTML", {}, "<html>", /cannot be used/],
])("%s is refused", async (_, metadata, device, what) => {
  server.forge(METADATA, metadata);
  if (typeof device === "string") server.answers.set("/device", { body: device });
  else if (device) server.forge("/device", device);
  await expect(begin()).rejects.toThrow(what);
});

test.each([
  ["who says no", "access_denied", /"access_denied"\. Log in again and agree\./],
  ["who is too late", "expired_token", /"expired_token"/],
])("a user %s leaves nothing behind", async (_, error, what) => {
  server.answers.set("/token", { status: 400, body: { error } });
  const login = await begin();
  await expect(login.finish()).rejects.toThrow(what);
  expect((await store.read()).logins).toEqual([]);
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loginTargets } from "../../../../src/app/cli/logins/targets.ts";
import { configuredClient } from "../../../../src/auth/login/registration.ts";
import { SecretStore } from "../../../../src/auth/secrets/secret-store.ts";
import { Secrets } from "../../../../src/auth/secrets/secrets.ts";
import { parseConfig } from "../../../../src/config/reading/parse.ts";
import type { Config } from "../../../../src/config/schema/config.ts";
import { disposeAll } from "../../../fixtures/dispose.ts";
import { stateEnv } from "../../../fixtures/logins.ts";

beforeEach(() => {
  vi.stubEnv("XDG_STATE_HOME", stateEnv().XDG_STATE_HOME);
  vi.stubEnv("GOBLIN_KEYCHAIN", "0");
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await disposeAll();
});

const issuer = "https://issuer.example";

function configOf(auth: object, gateway: object = {}): Config {
  const text = JSON.stringify({ mcpServers: { crm: { url: "https://crm.example/mcp", auth } }, gateway });
  return parseConfig(text, { file: "goblin.json", env: {} }).config;
}

async function keep(name: string, value: string): Promise<void> {
  await (await SecretStore.open(process.env)).set(name, value);
}

test("the secret of an OAuth client may be a reference; it is looked up for the login", async () => {
  const [target] = loginTargets(configOf({ clientId: "goblin", clientSecret: "${keychain:CRM}" }));
  await expect(configuredClient(target!, { issuer })).rejects.toThrow(
    'auth.clientSecret: the secret "CRM" is not set: run goblin secret set CRM',
  );
  await keep("CRM", "of-the-client");
  const client = await configuredClient(target!, { issuer });
  expect(client).toMatchObject({ clientId: "goblin", clientSecret: "of-the-client" });
});

test("so may its private key", async () => {
  const [target] = loginTargets(configOf({ clientId: "goblin", privateKey: "${keychain:PEM}", keyId: "one" }));
  await expect(configuredClient(target!, { issuer })).rejects.toThrow('auth.privateKey: the secret "PEM" is not set');
  await keep("PEM", "-----BEGIN PRIVATE KEY-----\nline\n");
  expect(await configuredClient(target!, { issuer })).toEqual({
    clientId: "goblin",
    keyId: "one",
    method: "private_key_jwt",
    privateKey: "-----BEGIN PRIVATE KEY-----\nline\n",
  });
});

test("so may its secret at the identity provider, and all of them are hidden from the log", async () => {
  const client = { clientId: "goblin", clientSecret: "${keychain:CRM}" };
  const idp = { issuer: "https://idp.example", clientId: "there", clientSecret: "${keychain:IDP}" };
  const oauth = { issuers: [{ issuer: idp.issuer, audience: ["https://goblin.example/mcp"] }] };
  const config = configOf({ ...client, as: "caller", grant: "id_jag", issuer, idp }, { auth: { oauth } });
  await keep("CRM", "of-the-client");
  await keep("IDP", "of-the-provider");
  let hidden: readonly string[] = [];
  const secrets = new Secrets({
    config: { current: config },
    hide: (values) => {
      hidden = values;
    },
  }).of(config.servers[0]!)!;
  expect(await secrets.auth()).toMatchObject({
    clientSecret: "of-the-client",
    idp: { clientId: "there", clientSecret: "of-the-provider" },
  });
  expect(hidden).toEqual(["of-the-client", "of-the-provider"]);
  // A start of the connection afterwards does not show them again.
  await secrets.transport();
  expect(hidden).toEqual(["of-the-client", "of-the-provider"]);
});

import { afterEach, expect, test, vi } from "vitest";
import { loginTargets } from "../../../src/cli/logins/targets.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { configuredClient } from "../../../src/login/registration.ts";
import { SecretStore } from "../../../src/secrets/secret-store.ts";
import { disposeAll } from "../../fixtures/dispose.ts";
import { stateEnv } from "../../fixtures/logins.ts";

afterEach(async () => {
  vi.unstubAllEnvs();
  await disposeAll();
});

test("the secret of an OAuth client may be a reference; it is looked up for the login", async () => {
  vi.stubEnv("XDG_STATE_HOME", stateEnv().XDG_STATE_HOME);
  vi.stubEnv("GOBLIN_KEYCHAIN", "0");
  const auth = { clientId: "goblin", clientSecret: "${keychain:CRM}" };
  const text = JSON.stringify({ mcpServers: { crm: { url: "https://crm.example/mcp", auth } } });
  const { config } = parseConfig(text, { file: "goblin.json", env: {} });
  const [target] = loginTargets(config);
  const server = { issuer: "https://issuer.example" };
  await expect(configuredClient(target!, server)).rejects.toThrow(
    'auth.clientSecret: the secret "CRM" is not set: run goblin secret set CRM',
  );
  await (await SecretStore.open(process.env)).set("CRM", "of-the-client");
  expect(await configuredClient(target!, server)).toMatchObject({ clientId: "goblin", clientSecret: "of-the-client" });
});

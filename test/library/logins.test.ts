/** A program's gateway uses the logins of the machine, if it is given them. */
import { afterEach, expect, test } from "vitest";
import { createGateway, openLogins } from "../../src/app/library/index.ts";
import { startGuarded } from "../fixtures/guarded.ts";
import { logIn, stateEnv, targetOf } from "../fixtures/logins.ts";
import { startOidc } from "../fixtures/oidc.ts";
import { disposeAll, onDispose, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

test("a server that asks for OAuth is used with what `goblin login` stored, and needs a login without", async () => {
  const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const env = stateEnv();
  const config = { mcpServers: { remote: { url: guarded.url } } };

  const logins = await openLogins(env);
  const gateway = createGateway({ config, logins });
  onDispose(() => gateway.close());
  await gateway.start();
  expect(gateway.snapshot().servers).toMatchObject([{ id: "remote", state: "needs-login" }]);

  const ready = new Promise<void>((resolve) => {
    gateway.events.on("server", ({ server }) => void (server?.state === "ready" && resolve()));
  });
  await logIn(env, targetOf(guarded.url), oidc);
  await ready;
  expect(await gateway.callTool("remote_echo", { text: "hello" })).toMatchObject({
    structuredContent: { text: "hello" },
  });
  expect(JSON.stringify([logins, gateway.snapshot()])).not.toContain("token");
});

test("logins come from openLogins, and from nowhere else", () => {
  expect(() => createGateway({ config: {}, logins: { warn: () => {} } })).toThrow(
    "logins: expected what openLogins() returned",
  );
});

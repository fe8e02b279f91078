/** `goblin pair` and `goblin grants`, with a running gateway of the same state folder. */
import { afterEach, expect, test } from "vitest";
import { commandHome } from "../fixtures/command.ts";
import { Browser, handMade } from "../fixtures/pairing.ts";
import { disposeAll } from "../fixtures/peers.ts";
import { freePort } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

test("a code lets a client in, which is listed, and thrown out at once", async () => {
  const home = commandHome();
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const config = home.write("goblin.json", {
    mcpServers: {},
    gateway: { port, publicUrl: issuer, auth: { pairing: true } },
  });
  const gateway = home.start(["serve", "--config", config]);
  let log = "";
  for (const stream of [gateway.stdout, gateway.stderr]) {
    stream!.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  }
  await until(() => log.includes("listening on"), { what: "the gateway to listen" });

  const pairing = home.start(["pair", "--config", config]);
  const closed = new Promise((resolve) => pairing.once("close", resolve));
  let shown = "";
  pairing.stdout!.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  const code = await until(() => /^ {4}(\d{4} \d{4})$/m.exec(shown)?.[1], { what: "the code" });
  const client = handMade({ issuer });
  const clientId = await client.register({ client_name: "Phone" });
  const location = await new Browser().consent(client.authorizationUrl(clientId), code);
  const answer = await client.exchange(clientId, location.searchParams.get("code")!);
  const { access_token: token } = (await answer.json()) as { access_token: string };
  await closed;
  expect(pairing.exitCode).toBe(0);
  const id = /Phone \(127\.0\.0\.1:9\) may use the gateway now\.\nTo end that: goblin grants revoke (\w+)/.exec(
    shown,
  )?.[1];
  const metrics = async () =>
    (await fetch(`${issuer}/metrics`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await metrics()).toBe(200);

  const listed = JSON.parse((await home.goblin("grants", "--config", config, "--json")).out);
  expect(listed.grants).toMatchObject([{ id, client: clientId, name: "Phone", resource: `${issuer}/mcp` }]);
  expect(await home.goblin("grants", "revoke", "nobody", "--config", config)).toMatchObject({ code: 2 });
  expect(await home.goblin("grants", "revoke", id!, "--config", config)).toMatchObject({
    code: 0,
    out: "Ended 1 grant.\n",
  });
  await until(async () => (await metrics()) === 401, { what: "the token to be refused" });
  expect(log).not.toContain(token);
  expect(log).not.toContain(code.replace(" ", ""));
});

test("without pairing in the config, the command says what to set", async () => {
  const home = commandHome();
  const config = home.write("goblin.json", { mcpServers: {} });
  const { code, err } = await home.goblin("pair", "--config", config);
  expect([code, err]).toEqual([2, expect.stringContaining('set "gateway.auth.pairing" to true')]);
});

/** GOBLIN_CONFIG, GOBLIN_HOST and GOBLIN_PORT: below the options, above the config. */

import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type CommandHome, commandHome } from "../fixtures/command.ts";
import { disposeAll, until } from "../fixtures/peers.ts";
import { freePort } from "../fixtures/serve.ts";

afterEach(disposeAll);

async function listening(home: CommandHome, args: string[], env: Record<string, string>): Promise<string> {
  const child = home.start(["serve", ...args], { env });
  let out = "";
  child.stdout!.on("data", (chunk) => {
    out += chunk;
  });
  return until(() => /listening on (\S+)/.exec(out)?.[1], { what: "goblin serve to listen" });
}

test("a variable wins over the config, an option over the variable, and commands find the gateway", async () => {
  const home = commandHome();
  const [taken, port] = [await freePort(), await freePort()];
  // The file needs no trust: naming it is consent. It lies where it would also be found.
  home.write("goblin.json", { gateway: { host: "${env:NOWHERE:-localhost}", port: taken } });
  const env = { GOBLIN_CONFIG: "goblin.json", GOBLIN_HOST: "127.0.0.1", GOBLIN_PORT: String(port) };
  expect(await listening(home, [], env)).toBe(`http://127.0.0.1:${port}/mcp`);
  const status = await home.goblinWith({ env }, "status");
  expect(status.out).toContain(`at http://127.0.0.1:${port}/mcp`);
  expect(status.out).toContain(`Config ${join(home.folder, "goblin.json")}`);
  expect(await listening(home, ["--port", String(taken)], env)).toBe(`http://127.0.0.1:${taken}/mcp`);
});

test("`${env:PORT}` is the port, and GOBLIN_CONFIG is what check checks", async () => {
  const home = commandHome();
  const port = await freePort();
  const file = home.write("other.json", { gateway: { port: "${env:PORT:-3000}" } });
  expect(await listening(home, ["--config", file], { PORT: String(port) })).toBe(`http://127.0.0.1:${port}/mcp`);
  const checked = await home.goblinWith({ env: { GOBLIN_CONFIG: file, PORT: "x" } }, "check");
  expect(checked.code).toBe(1);
  expect(checked.err).toBe(
    "other.json:1:20 gateway.port: expected a number; the text is not that once its variables are replaced\n",
  );
});

test("a malformed port is wrong usage; an empty variable counts as absent", async () => {
  const home = commandHome();
  const refused = await home.goblinWith({ env: { GOBLIN_PORT: "http" } }, "serve");
  expect(refused).toEqual({ code: 2, out: "", err: "goblin: GOBLIN_PORT: expected a number from 0 to 65535\n" });
  const file = home.write("a.json", { gateway: { port: 0 } });
  const url = await listening(home, [], { GOBLIN_CONFIG: file, GOBLIN_PORT: "", GOBLIN_HOST: "" });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
});

test("a config that is found stays found beside GOBLIN_PORT", async () => {
  const home = commandHome();
  home.write("goblin.json", { gateway: { port: "${env:PORT}" } });
  const { err } = await home.goblinWith({ env: { GOBLIN_PORT: "1", PORT: "1" } }, "check");
  expect(err).toContain('must not have ${…} in "gateway"');
});

test("serve --workers names what to use instead", async () => {
  const home = commandHome();
  const err =
    "goblin: --workers is not supported: a gateway is one process. Run several replicas behind a load balancer instead (docs/scaling.md)\n";
  for (const words of [["--workers", "4"], ["--workers"]]) {
    expect(await home.goblinWith({}, "serve", ...words)).toEqual({ code: 2, out: "", err });
  }
});

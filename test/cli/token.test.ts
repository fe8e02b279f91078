import { readFileSync, statSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { isDate } from "../../src/config/schema/auth.ts";
import { commandHome } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll } from "../fixtures/peers.ts";

afterEach(disposeAll);

const CONFIG = '// mine\r\n{\r\n\t"mcpServers": {}, // none yet\r\n\t"gateway": { "port": 0 },\r\n}\r\n';

test("a token is printed once, and opens the gateway by the hash in the config", async () => {
  const home = commandHome();
  const path = home.write("team.json", CONFIG);
  const made = await home.goblin("token", "new", "ci", "--config", path, "--expires", "2099-01-01");
  expect(made.code).toBe(0);
  const token = made.out.trim();
  expect(token).toMatch(/^goblin_[\w-]{32}$/);
  expect(made.err).toContain('Added "ci"');
  const text = readFileSync(path, "utf8");
  expect(text).not.toContain(token);
  expect(text).toContain('// mine\r\n{\r\n\t"mcpServers": {}, // none yet\r\n');
  const config = JSON.parse(text.replace(/\/\/.*$/gm, "").replace(/,(\s*})/g, "$1"));
  expect(config.gateway.auth.clients.ci.expires).toBe("2099-01-01");
  const goblin = await startGoblin(config);
  const status = async (authorization: string) =>
    (await fetch(`${goblin.origin}/metrics`, { headers: { authorization } })).status;
  expect(await status(`Bearer ${token}`)).toBe(200);
  expect(await status(`Bearer ${config.gateway.auth.clients.ci.hash}`)).toBe(401);
});

test("a name is taken once, and replaced only when asked", async () => {
  const home = commandHome();
  const path = home.write("team.json", CONFIG);
  const run = (...args: string[]) => home.goblin("token", "new", ...args, "--config", path, "--json");
  const first = JSON.parse((await run("ci")).out) as { hash: string };
  expect(await run("ci")).toMatchObject({ code: 2 });
  expect(readFileSync(path, "utf8")).toContain(first.hash);
  const second = JSON.parse((await run("ci", "--replace")).out) as { hash: string };
  expect(readFileSync(path, "utf8")).not.toContain(first.hash);
  expect(readFileSync(path, "utf8")).toContain(second.hash);
  expect(await run("no spaces")).toMatchObject({ code: 2 });
  expect(await run("x", "--expires", "soon")).toMatchObject({ code: 2 });
  expect(statSync(path).mode & 0o777).toBe(0o644);
});

test("a trusted config of the folder stays trusted; without a config it says so", async () => {
  const home = commandHome();
  expect(await home.goblin("token", "new", "ci")).toMatchObject({ code: 2, err: expect.stringContaining("--config") });
  home.write("goblin.json", CONFIG);
  await home.goblin("trust");
  expect(await home.goblin("token", "new", "ci")).toMatchObject({ code: 0 });
  expect((await home.goblin("trust", "--list")).out).toContain("trusted");
  expect(await home.goblin("stdio")).toMatchObject({ code: 0 });
});

test("the config of GOBLIN_CONFIG gets the token; one that would not be valid stays as it is", async () => {
  const home = commandHome();
  const path = home.write("team.json", CONFIG);
  const env = { GOBLIN_CONFIG: path };
  expect(await home.goblinWith({ env }, "token", "new", "ci")).toMatchObject({ code: 0 });
  expect(readFileSync(path, "utf8")).toContain('"ci"');
  const broken = '{ "gateway": { "port": 0, "auth": { "tokens": "one" } } }';
  home.write("team.json", broken);
  const refused = await home.goblinWith({ env }, "token", "new", "two");
  expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("gateway.auth.tokens") });
  expect(readFileSync(path, "utf8")).toBe(broken);
});

test("a time needs its zone", async () => {
  for (const text of ["2099-01-01", "2099-01-01T12:00Z", "2099-01-01T12:00:00+02:00"]) expect(isDate(text)).toBe(true);
  for (const text of ["2099-01-01T12:00", "1 January 2099", "2099-13-01", "2099"]) expect(isDate(text)).toBe(false);
  const home = commandHome();
  const path = home.write("team.json", CONFIG);
  expect(await home.goblin("token", "new", "x", "-c", path, "--expires", "2099-01-01T12:00")).toMatchObject({
    code: 2,
  });
});

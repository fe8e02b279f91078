/** Servers found in a registry, added to a config, pinned, compared and taken out again. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { SecretStore } from "../../src/auth/secrets/secret-store.ts";
import { hasScript } from "../fixtures/command.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { clockBundle, placeRunners, serversScene, zip } from "./servers-scene.ts";

afterEach(disposeAll);

test("search ranks a copy of the list, and says how old it is when the registry is down", async () => {
  const { home, registry, file } = await serversScene();
  const found = await home.goblin("search", "forecast", "--config", file);
  expect([found.code, found.err]).toEqual([0, ""]);
  expect(found.out).toMatch(
    /^NAME +VERSION +RUNS +DESCRIPTION\nio\.github\.ada\/weather-mcp +1\.2\.0 +npm, remote +Forecasts/,
  );
  const pages = registry.asked.length;
  expect(pages).toBe(2);
  await home.goblin("search", "mail", "--config", file);
  expect(registry.asked).toHaveLength(pages);
  registry.isDown = true;
  const old = await home.goblin("search", "pdf", "--config", file, "--refresh");
  expect(old.out).toContain("io.github.bob/pdf");
  expect(old.err).toMatch(/answered 503; this is its list of \d+ (second|minute)s? ago\n/);
  const json = JSON.parse((await home.goblin("search", "mail", "--config", file, "--json")).out);
  expect(json.servers[0]).toMatchObject({ name: "com.example/mail", version: "2.0.0" });
  home.env["XDG_STATE_HOME"] = join(home.folder, "other");
  const none = await home.goblin("search", "mail", "--config", file);
  expect([none.code, none.err]).toEqual([1, expect.stringContaining("there is no copy of its list")]);
  expect(none.out).toBe("");
  registry.isDown = false;
  const missing = await home.goblin("add", "npm:no-such-package", "--config", file);
  expect([missing.code, missing.err]).toEqual([1, `goblin: ${registry.url} has no package "no-such-package"\n`]);
});

test("a registry's server is added with its version, its answers and its secret, and undone", async () => {
  const { home, file } = await serversScene();
  placeRunners(home);
  const before = readFileSync(file, "utf8");
  const missing = await home.goblin("add", "io.github.ada/weather-mcp", "--config", file);
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining("the server needs city (Where you are)")]);
  const seen = await home.goblin("add", "io.github.ada/weather-mcp", "--set", "WEATHER_KEY=x", "--config", file);
  expect([seen.code, seen.err]).toEqual([2, expect.stringContaining("others can see a command line")]);
  expect(readFileSync(file, "utf8")).toBe(before);

  home.env["WEATHER_KEY"] = "sk-live-1234567";
  const added = await home.goblin("add", "weather", "--set", "city=Graz", "--config", file, "--", "--fast");
  expect([added.code, added.err]).toEqual([0, "It can also take: --units, WEATHER_LANG\n"]);
  expect(added.out).toContain(
    '"weather" will run: WEATHER_KEY=${WEATHER_KEY} npx -y @ada/weather@1.2.0 --units metric Graz --fast\n',
  );
  expect(added.out).toContain("It works, with 2 tools.");
  const text = readFileSync(file, "utf8");
  expect(text).toContain("  // ours\n");
  expect(JSON.parse(text.replace("// ours", "")).mcpServers).toEqual({
    weather: {
      command: "npx",
      args: ["-y", "@ada/weather@1.2.0", "--units", "metric", "Graz", "--fast"],
      env: { WEATHER_KEY: "${WEATHER_KEY}" },
    },
  });
  const twice = await home.goblin("add", "weather", "--set", "city=Graz", "--config", file);
  expect([twice.code, twice.err]).toEqual([2, expect.stringContaining('has a server "weather" already')]);
  const off = await home.goblin("disable", "weather", "--config", file);
  expect(off.out).toContain("weather: disabled in ");
  expect(readFileSync(file, "utf8")).toContain('"enabled": false');
  await home.goblin("enable", "weather", "--config", file);
  expect(readFileSync(file, "utf8")).toBe(text);
  expect((await home.goblin("remove", "wether", "--config", file)).err).toContain('did you mean "weather"?');
  expect((await home.goblin("remove", "weather", "--config", file)).code).toBe(0);
  expect(readFileSync(file, "utf8").replace(/\{\s*\}/, "{}")).toBe(before);
  await home.goblin("undo");
  expect(readFileSync(file, "utf8")).toBe(text);

  const remote = await home.goblin("add", "weather", "--remote", "--name", "far", "--config", file, "--json");
  expect(JSON.parse(remote.out)).toMatchObject({ server: "far", runs: "https://weather.example/mcp" });
  const unknown = await home.goblin("add", "wether-report", "--config", file);
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('no registry has a server "wether-report"')]);
});

test.skipIf(!hasScript)("on a terminal it asks, and the secret goes into the store", async () => {
  const { home, file } = await serversScene();
  placeRunners(home);
  const { code, shown } = await home.onTerminal(["add", "io.github.ada/weather-mcp", "--config", file], {
    typing: [
      ["Where you are", "Linz\r"],
      ["Your key", "sk-typed-1234567\r"],
      ["[Y/n]", "\r"],
    ],
  });
  expect([code, shown]).toEqual([0, expect.stringContaining("It works, with 2 tools.")]);
  expect(shown).not.toContain("sk-typed");
  expect(readFileSync(file, "utf8")).toContain('"WEATHER_KEY": "${keychain:weather/WEATHER_KEY}"');
  const store = await SecretStore.open({ ...home.env, XDG_STATE_HOME: join(home.env["HOME"]!, ".local/state") });
  expect(await store.get("weather/WEATHER_KEY")).toBe("sk-typed-1234567");
  expect((await home.goblin("undo")).out).toContain('secret "weather/WEATHER_KEY": removed');
  expect(await store.list()).toEqual([]);
});

test("without a config, the user's own is made", async () => {
  const { home } = await serversScene();
  const unreachable = "http://127.0.0.1:1/mcp";
  const added = await home.goblin("add", unreachable, "--name", "far");
  expect([added.code, added.err]).toEqual([1, expect.stringContaining("It does not work yet: ")]);
  const own = join(home.env["HOME"]!, ".config/goblin/goblin.json");
  expect(JSON.parse(readFileSync(own, "utf8"))).toEqual({ mcpServers: { far: { url: unreachable } } });
  await home.goblin("undo");
  expect(existsSync(own)).toBe(false);
});

test("a package is pinned to the newest version, and an outdated one is told", async () => {
  const { home, registry, file } = await serversScene();
  placeRunners(home);
  registry.files.set("/npm/@ada%2fclock", JSON.stringify({ "dist-tags": { latest: "3.1.0" } }));
  const added = await home.goblin("add", "npm:@ada/clock", "--config", file, "--", "--zone", "UTC");
  expect(added.out).toContain('"clock" will run: npx -y @ada/clock@3.1.0 --zone UTC\n');
  registry.files.set("/npm/@ada%2fclock", JSON.stringify({ "dist-tags": { latest: "3.2.0" } }));
  const { code, out } = await home.goblin("outdated", "--config", file, "--json");
  expect([code, JSON.parse(out)]).toEqual([
    1,
    [{ server: "clock", package: "@ada/clock", pinned: "3.1.0", newest: "3.2.0", state: "outdated" }],
  ]);
});

test("a bundle is unpacked, and cannot leave its folder", async () => {
  const { home, file } = await serversScene();
  const path = join(home.folder, "clock.mcpb");
  writeFileSync(path, clockBundle());
  const added = await home.goblin("add", path, "--set", "which=clock", "--config", file);
  expect([added.err, added.out]).toEqual(["", expect.stringContaining("It works, with 2 tools.")]);
  writeFileSync(path, zip({ "manifest.json": "{}", "../evil.js": "1" }));
  const evil = await home.goblin("add", path, "--name", "evil", "--config", file);
  expect([evil.code, evil.err]).toEqual([1, expect.stringContaining("a file outside of its folder")]);
});

test("packages of npm and PyPI are pinned to the newest version, and outdated ones are told", async () => {
  const { home, registry, file } = await serversScene();
  placeRunners(home);
  registry.files.set("/npm/@ada%2fclock", JSON.stringify({ "dist-tags": { latest: "3.1.0" } }));
  registry.files.set(
    "/simple/mcp-server-time/",
    '<a href="a">mcp_server_time-0.9.0.tar.gz</a><a href="b">mcp_server_time-0.10.1-py3-none-any.whl</a>' +
      '<a href="c">mcp_server_time-1.0.0rc1-py3-none-any.whl</a>',
  );
  const npm = await home.goblin("add", "npm:@ada/clock", "--config", file, "--", "--zone", "UTC");
  expect(npm.out).toContain('"clock" will run: npx -y @ada/clock@3.1.0 --zone UTC\n');
  const pypi = await home.goblin("add", "pypi:mcp-server-time", "--config", file);
  expect(pypi.out).toContain('"time" will run: uvx mcp-server-time==0.10.1\n');
  await home.goblin("add", "npm:@ada/clock@2.0.0", "--name", "old", "--config", file);
  const image = await home.goblin("add", "oci:ghcr.io/ada/files:1.0", "--config", file);
  expect(image.out).toContain('"files" will run: docker run -i --rm ghcr.io/ada/files:1.0\n');
  registry.servers.push({
    name: "io.github.ada/files",
    version: "1.4",
    packages: [{ registry_type: "oci", identifier: "ghcr.io/ada/files:1.4", transport: { type: "stdio" } }],
  });
  const { code, out } = await home.goblin("outdated", "--config", file, "--json");
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual([
    { server: "clock", package: "@ada/clock", pinned: "3.1.0", newest: "3.1.0", state: "current" },
    { server: "time", package: "mcp-server-time", pinned: "0.10.1", newest: "0.10.1", state: "current" },
    { server: "old", package: "@ada/clock", pinned: "2.0.0", newest: "3.1.0", state: "outdated" },
    { server: "files", package: "ghcr.io/ada/files", pinned: "1.0", newest: "1.4", state: "outdated" },
  ]);
  expect((await home.goblin("outdated", "clock", "--config", file)).code).toBe(0);
  registry.isDown = true;
  const down = await home.goblin("outdated", "clock", "--config", file);
  expect(down.out).toContain("unknown: http://127.0.0.1");
});

test("a bundle is unpacked, checked against its digest, and cannot leave its folder", async () => {
  const { home, registry, file } = await serversScene();
  const bundle = clockBundle();
  const path = join(home.folder, "clock.mcpb");
  writeFileSync(path, bundle);
  const added = await home.goblin("add", path, "--set", "which=clock", "--config", file);
  expect([added.err, added.out]).toEqual(["", expect.stringContaining("It works, with 2 tools.")]);
  const folder = /run: \S+ (\S+)\/server\/index\.js clock/.exec(added.out)![1]!;
  expect(existsSync(join(folder, "manifest.json"))).toBe(true);

  registry.files.set("/clock.mcpb", bundle);
  const server = (sha: string): Record<string, unknown> => ({
    name: "io.github.ada/bundle",
    version: "1.0.0",
    packages: [
      { registryType: "mcpb", identifier: `${registry.url}/clock.mcpb`, fileSha256: sha, transport: { type: "stdio" } },
    ],
  });
  registry.servers = [server("0".repeat(64))];
  const bad = await home.goblin("add", "io.github.ada/bundle", "--name", "b", "--set", "which=clock", "--config", file);
  expect([bad.code, bad.err]).toEqual([1, expect.stringContaining("it is not used")]);
  registry.servers = [server(createHash("sha256").update(bundle).digest("hex"))];
  const good = await home.goblin(
    "add",
    "io.github.ada/bundle",
    "--name",
    "b",
    "--set",
    "which=clock",
    "--config",
    file,
  );
  expect(good.code).toBe(0);

  writeFileSync(path, zip({ "manifest.json": "{}", "../evil.js": "1" }));
  const evil = await home.goblin("add", path, "--name", "evil", "--config", file);
  expect([evil.code, evil.err]).toEqual([1, expect.stringContaining("a file outside of its folder")]);
  writeFileSync(path, "no zip");
  expect((await home.goblin("add", path, "--name", "evil", "--config", file)).err).toContain("it is not a zip archive");
});

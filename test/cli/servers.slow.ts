/** Packages of every kind and bundles from a registry: pinned, compared, checked, refused. */
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { disposeAll } from "../fixtures/dispose.ts";
import { clockBundle, placeRunners, serversScene, zip } from "./servers-scene.ts";

afterEach(disposeAll);

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

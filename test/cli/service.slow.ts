/** `goblin service` with a systemctl that starts what the unit says. */
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { type CommandHome, commandHome } from "../fixtures/command.ts";
import { onDispose } from "../fixtures/dispose.ts";
import { disposeAll } from "../fixtures/peers.ts";
import { freePort } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

const FAKE = fileURLToPath(new URL("../fixtures/fake-systemctl.js", import.meta.url));

interface Machine extends CommandHome {
  readonly unit: string;
  /** Returns how systemctl was used since the last time. */
  uses(): string[];
  journal(): string;
}

function withSystemd(): Machine {
  const home = commandHome();
  const [bin, systemd] = [join(dirname(home.folder), "bin"), join(dirname(home.folder), "systemd")];
  for (const folder of [bin, systemd]) mkdirSync(folder);
  writeFileSync(join(bin, "systemctl"), `#!/bin/sh\nexec '${process.execPath}' '${FAKE}' "$@"\n`);
  chmodSync(join(bin, "systemctl"), 0o755);
  Object.assign(home.env, { PATH: `${bin}:${home.env["PATH"]}`, FAKE_SYSTEMD: systemd, GOBLIN_KEYCHAIN: "0" });
  let read = 0;
  onDispose(async () => {
    if (existsSync(join(systemd, "pid"))) await home.goblin("service", "uninstall");
  });
  return {
    ...home,
    unit: join(home.env["HOME"]!, ".config/systemd/user/goblin.service"),
    journal: () => readFileSync(join(systemd, "journal"), "utf8"),
    uses() {
      const all = readFileSync(join(systemd, "uses"), "utf8");
      const fresh = all.slice(read).trim().split("\n");
      read = all.length;
      return fresh.filter((use) => !use.startsWith("--user show"));
    },
  };
}

test("a service is shown, installed, seen and removed, in a folder with an odd name", async () => {
  const home = withSystemd();
  const folder = join(home.folder, `100% "good" $HOME it's\\here`);
  mkdirSync(folder);
  const config = join(folder, "goblin.json");
  const token = "s3cret-token-of-the-gateway";
  const port = await freePort();
  writeFileSync(config, JSON.stringify({ gateway: { port, auth: { tokens: [token] } }, mcpServers: {} }));
  home.env["GOBLIN_TOKEN"] = token;

  const absent = await home.goblin("service", "status");
  expect([absent.code, absent.out]).toEqual([1, "No service is installed (goblin service install).\n"]);
  const dry = await home.goblin("service", "install", "--config", config, "--dry-run");
  expect(dry.out).toContain(`${home.unit}\n  + # Written by goblin service install.`);
  expect(existsSync(home.unit)).toBe(false);

  const installed = await home.goblin("service", "install", "--config", config);
  expect(installed).toMatchObject({ code: 0, err: "" });
  expect(installed.out.startsWith(dry.out)).toBe(true);
  expect(installed.out).toContain(`The gateway runs: http://127.0.0.1:${port}/mcp\n`);
  expect(installed.out).toContain("journalctl --user -u goblin -f");
  expect(home.uses()).toEqual([
    "--user daemon-reload",
    "--user enable goblin.service",
    "--user reset-failed goblin.service",
    "--user restart goblin.service",
  ]);
  const written = readFileSync(home.unit, "utf8");
  expect(dry.out).toBe(`${home.unit}\n${written.replace(/^/gm, "  + ").replace(/ {2}\+ $/, "")}`);
  expect(written).not.toContain("s3cret");

  const seen = await home.goblin("service", "status", "--json");
  expect(seen.code).toBe(0);
  expect(JSON.parse(seen.out)).toMatchObject({
    state: "running",
    config,
    url: `http://127.0.0.1:${port}`,
    missing: [],
  });
  const { pid } = JSON.parse(seen.out) as { pid: number };
  const again = await home.goblin("service", "install", "--config", config, "--json");
  expect(JSON.parse(again.out)).toMatchObject({ state: "running", url: `http://127.0.0.1:${port}` });
  expect(JSON.parse((await home.goblin("service", "status", "--json")).out).pid).not.toBe(pid);

  home.uses();
  const removed = await home.goblin("service", "uninstall");
  expect(removed.out).toBe(`The service is stopped and removed (${home.unit})\n`);
  expect(home.uses()).toEqual(["--user disable --now goblin.service", "--user daemon-reload"]);
  expect(existsSync(home.unit)).toBe(false);
  await until(async () => (await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined)) === undefined);
  expect((await home.goblin("service", "uninstall")).out).toBe("No service is installed.\n");
});

test("what stands in the way is named, and nothing is left behind", async () => {
  const home = withSystemd();
  expect(await home.goblin("service", "install")).toMatchObject({ code: 2, err: /there is no config .*goblin import/ });
  const own = join(home.env["HOME"]!, ".config/goblin/goblin.json");
  mkdirSync(dirname(own), { recursive: true });
  const needy = { url: "http://127.0.0.1:9/mcp", headers: { Authorization: "Bearer ${GITHUB_KEY}" } };
  writeFileSync(own, JSON.stringify({ gateway: { port: await freePort() }, mcpServers: { needy } }));
  home.env["GITHUB_KEY"] = "s3cret";

  const refused = await home.goblinWith({ env: { FAKE_SYSTEMD_REFUSES: "enable" } }, "service", "install");
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("systemctl --user enable goblin.service: Failed to enable unit: no.");
  expect(existsSync(home.unit)).toBe(false);
  // Its shell has the variable; the service does not.
  expect(refused.err).toMatch(/GITHUB_KEY.*\n.*goblin secret set NAME, and write \$\{keychain:NAME\} in the config/);
  // B10: what it advises works.
  await home.goblinWith({ input: "s3cret-token" }, "secret", "set", "NAME");
  const advised = { ...needy, headers: { Authorization: "Bearer ${keychain:NAME}" } };
  const checked = home.write("advised.json", { mcpServers: { needy: advised } });
  expect(await home.goblin("check", checked)).toMatchObject({ code: 0, err: "" });

  const running = home.start(["serve"]);
  await once(running.stdout!, "data");
  const taken = await home.goblin("service", "install");
  expect(taken).toMatchObject({ code: 2, err: expect.stringMatching(/runs already, at .*: end it first/) });
  expect(existsSync(home.unit)).toBe(false);
  running.kill("SIGTERM");
  await until(async () => running.exitCode !== null);

  mkdirSync(dirname(home.unit), { recursive: true });
  writeFileSync(home.unit, "[Service]\nExecStart=/my/own\n");
  for (const verb of ["install", "status", "uninstall"]) {
    const other = await home.goblin("service", verb);
    expect(other).toMatchObject({ code: 1, err: expect.stringContaining("was not written by goblin service install") });
  }
  expect(readFileSync(home.unit, "utf8")).toBe("[Service]\nExecStart=/my/own\n");
});

test("a gateway that cannot start is said, with the way to its log", async () => {
  const home = withSystemd();
  const config = home.write("goblin.json", { mcpServers: {}, gateway: { port: 1, host: "no.such.host.invalid" } });
  const failed = await home.goblin("service", "install", "--config", config);
  expect(failed.code).toBe(1);
  expect(failed.err).toContain("its gateway does not run. Its log: journalctl --user -u goblin -f");
  expect(home.journal()).toContain("no.such.host.invalid");
  expect(JSON.parse((await home.goblin("service", "status", "--json")).out)).toMatchObject({
    state: "failed",
    url: null,
  });
  expect((await home.goblin("service", "uninstall")).code).toBe(0);
});

test("service run keeps a log and ends with its gateway", async () => {
  const home = commandHome();
  const config = home.write("goblin.json", { mcpServers: {}, gateway: { port: await freePort() } });
  const log = join(home.folder, "logs/service.log");
  const running = home.start(["service", "run", "--config", config, "--log", log]);
  await until(async () => existsSync(log) && readFileSync(log, "utf8").includes("Goblin is listening"));
  running.kill("SIGTERM");
  await until(async () => running.exitCode !== null);
  expect(running.exitCode).toBe(0);
  const bad = await home.goblin("service", "run", "--config", join(home.folder, "no.json"), "--log", log);
  expect(bad.code).toBe(1);
  expect(readFileSync(log, "utf8")).toContain("no.json");
});

/** `goblin doctor`, as its user runs it: with and without a gateway, on a machine with problems. */
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type CommandHome, commandHome } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose, startScripted } from "../fixtures/peers.ts";
import { freePort } from "../fixtures/serve.ts";

afterEach(disposeAll);

interface Found {
  level: string;
  code: string;
  where: string;
  what: string;
  remedy: string | null;
  done?: string;
  changes?: string[];
}
interface Report {
  ok: boolean;
  errors: number;
  sections: { title: string; findings: Found[] }[];
}

async function examined(home: CommandHome, ...args: string[]) {
  const { code, out, err } = await home.goblin("doctor", ...args, "--json");
  if (out === "") throw new Error(err);
  const report = JSON.parse(out) as Report;
  const all = report.sections.flatMap(({ findings }) => findings);
  const of = (wanted: string): Found | undefined => all.find((finding) => finding.code === wanted);
  return { code, err, report, all, of };
}

const broken = {
  name: "odd",
  inputSchema: { type: "object", properties: { "a[]": { type: "array" } }, anyOf: [{ required: ["a[]"] }] },
};
const long = { name: "x".repeat(60), inputSchema: { type: "object" } };

test("without a gateway: programs, config, state, port, clients and every server", async () => {
  const home = commandHome();
  const good = await startScripted({ name: "good", script: { lists: { tools: [broken, long] } } });
  const config = home.write("some.json", {
    mcpServers: {
      good: good.entry,
      absent: { command: "no-such-program" },
      quits: { command: process.execPath, args: ["-e", "console.error('no key'); process.exit(3)"] },
      away: { url: "http://127.0.0.1:9/mcp" },
      off: { command: "anything", disabled: true },
    },
  });
  const { code, err, report, all, of } = await examined(home, "--config", config);
  expect([code, err, report.ok]).toEqual([1, "", false]);
  expect(of("programs")?.what).toContain(`node ${process.versions.node}`);
  expect(of("config_problem")).toMatchObject({ where: expect.stringMatching(/some\.json:1:\d+$/), level: "warning" });
  expect(all.filter((found) => found.where === "good").map((found) => found.code)).toEqual([
    "server",
    "name_too_long",
    "name_too_long",
    "schema_top_level_union",
    "schema_property_name",
    "schema_array_without_items",
  ]);
  expect(all.find(({ where }) => where === "quits")).toMatchObject({
    code: "server_down",
    what: expect.stringContaining("no key"),
    remedy: expect.stringContaining("run it by hand"),
  });
  expect(all.filter(({ where }) => where === "away").map((found) => found.code)).toEqual([
    "server_down",
    "unreachable",
  ]);
  expect(of("server_disabled")?.where).toBe("off");
  const one = await examined(home, "good", "--config", config);
  expect([one.code, one.report.sections.map(({ title }) => title)]).toEqual([0, ["Server good"]]);
  const typo = await home.goblin("doctor", "goood", "--config", config);
  expect(typo).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "good"?') });
});

test("with a running gateway and no config at hand, and for people", async () => {
  const home = commandHome();
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: server.entry } });
  const { code, report, of } = await examined(home, "--url", goblin.origin);
  expect([code, report.ok]).toEqual([0, true]);
  expect(report.sections.map(({ title }) => title)).toContain("Programs, as the running gateway finds them");
  expect(of("gateway")?.what).toContain("runs at");
  expect(of("server")).toMatchObject({ where: "one", what: expect.stringContaining("MCP 20") });
  const { out } = await home.goblin("doctor", "one", "--url", goblin.origin);
  expect(out).toMatch(/^Server one\n {2}ok {4}.+ over stdio: \d+ tools, /);
});

test("a port that another program has, and a config that is not trusted", async () => {
  const home = commandHome();
  const other = createServer((_request, response) => void response.end("hello"));
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  onDispose(() => void other.close());
  const { port } = other.address() as AddressInfo;
  home.write("goblin.json", { mcpServers: { one: { command: "touch", args: ["ran"] } }, gateway: { port } });
  const { code, of } = await examined(home);
  expect(code).toBe(1);
  expect(of("gateway")).toMatchObject({ level: "error", what: expect.stringContaining("another program answers") });
  expect(of("config_problem")).toMatchObject({ level: "error", remedy: expect.stringContaining("goblin trust") });
  expect(existsSync(join(home.folder, "ran"))).toBe(false);
});

test("--fix mends rights, locks, an npx folder and a client's entry, and says so", async () => {
  const running = await startGoblin({ mcpServers: {} });
  const port = Number(new URL(running.origin).port);
  const home = commandHome();
  const own = home.env["HOME"]!;
  const state = join(own, ".local/state/goblin");
  mkdirSync(state, { recursive: true });
  chmodSync(state, 0o755);
  writeFileSync(join(state, "key"), "k", { mode: 0o644 });
  const lock = join(state, "logins.lock");
  writeFileSync(lock, "1", { mode: 0o600 });
  utimesSync(lock, 1, 1);
  const cursor = join(own, ".cursor/mcp.json");
  mkdirSync(dirname(cursor), { recursive: true });
  writeFileSync(cursor, '{\n  // mine\n  "mcpServers": { "goblin": { "url": "http://127.0.0.1:1/old" } }\n}\n');
  const folder = join(own, ".npm/_npx/0123456789abcdef");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  const server = await startScripted({ name: "cached", script: { lists: { tools: [] } } });
  const { command, args } = server.entry as { command: string; args: string[] };
  const npx = home.write(
    "npx.cjs",
    [
      `if (require("node:fs").existsSync(${JSON.stringify(folder)})) {`,
      `  console.error("Error: Cannot find package 'x' imported from ${folder}/node_modules/y/index.js");`,
      "  process.exit(1);",
      "}",
      `require("node:child_process").spawn(${JSON.stringify(command)}, process.argv.slice(2), { stdio: "inherit" });`,
    ].join("\n"),
  );
  const config = home.write("some.json", {
    mcpServers: { cached: { ...server.entry, command: process.execPath, args: [npx, ...args] } },
    gateway: { port },
  });
  const before = await examined(home, "--config", config);
  expect(before.code).toBe(1);
  const found = before.all.filter(({ level }) => level === "warning" || level === "error").map((one) => one.code);
  expect(found.sort()).toEqual(["client_drifted", "npx_folder", "stale_lock", "state_rights", "state_rights"]);
  const { code, all } = await examined(home, "--config", config, "--fix");
  expect(code).toBe(0);
  expect(all.filter(({ done }) => done !== undefined).map((one) => one.code)).toEqual([
    "client_drifted",
    "npx_folder",
    "state_rights",
    "state_rights",
    "stale_lock",
  ]);
  expect(all.find((one) => one.code === "npx_folder")?.done).toContain("it is ready");
  expect([statSync(state).mode & 0o777, statSync(join(state, "key")).mode & 0o777]).toEqual([0o700, 0o600]);
  expect([existsSync(lock), existsSync(folder)]).toEqual([false, false]);
  expect(readFileSync(cursor, "utf8")).toContain("// mine");
  expect(readFileSync(cursor, "utf8")).toContain(`127.0.0.1:${port}/mcp`);
  const after = await examined(home, "--config", config);
  expect([after.code, after.all.filter(({ level }) => level === "warning" || level === "error")]).toEqual([0, []]);
});

test("D7: --fix leaves entries that work, writes none that leads nowhere, and is one undo", async () => {
  const home = commandHome();
  const old = await startGoblin({ mcpServers: {} });
  const text = JSON.stringify({ mcpServers: { goblin: { url: `${old.origin}/mcp` } } });
  const files = [".cursor/mcp.json", ".kiro/settings/mcp.json"].map((name) => join(home.env["HOME"]!, name));
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const texts = () => files.map((file) => readFileSync(file, "utf8"));
  const port = await freePort();
  const other = home.write("other.json", { mcpServers: {}, gateway: { port } });
  const elsewhere = await examined(home, "--config", other, "--fix");
  expect(elsewhere.all.filter(({ code }) => code === "client_elsewhere").map(({ what }) => what)).toEqual([
    `Cursor uses another gateway, which works: ${old.origin}/mcp`,
    `Kiro uses another gateway, which works: ${old.origin}/mcp`,
  ]);
  expect(texts()).toEqual([text, text]);

  await old.gateway.close();
  const silent = await examined(home, "--config", other, "--fix");
  expect(silent.of("client_drifted")).toMatchObject({
    what: `Cursor: the gateway's entry leads nowhere, and no gateway answers at http://127.0.0.1:${port}/mcp`,
  });
  expect(texts()).toEqual([text, text]);

  const served = home.start(["serve", "--config", other]);
  await once(served.stdout!, "data");
  const shown = await home.goblin("doctor", "--config", other, "--fix");
  expect(shown.err).toContain(`will fix ${files[0]}: goblin install cursor\n  - {`);
  expect(shown.err).toContain(`http://127.0.0.1:${port}/mcp`);
  for (const now of texts()) expect(now).toContain(`http://127.0.0.1:${port}/mcp`);
  expect((await home.goblin("undo")).code).toBe(0);
  expect(texts()).toEqual([text, text]);
});

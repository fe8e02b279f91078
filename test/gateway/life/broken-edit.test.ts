/**
 * A broken edit of the config, in a process with a file that is watched: everybody who looks is
 * told until it is mended, and nobody's call notices.
 */
import { execFile } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AdminEvent } from "../../../src/admin/api/events.ts";
import { adminRoutes } from "../../../src/admin/api/routes.ts";
import type { ConfigProblem } from "../../../src/admin/api/schema.ts";
import { createAdminClient } from "../../../src/admin/tui/client.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { parsePrometheus, valueIn } from "../../fixtures/prometheus.ts";
import { type Served, serveHome, startServe } from "../../fixtures/serve.ts";
import { build, command, hasTmux, openTerminal } from "../../tui/pty.ts";

const PROGRAM = fileURLToPath(new URL("../../../bin/goblin.js", import.meta.url));

beforeAll(build, 120_000);
afterEach(disposeAll);

type ConfigEvent = Extract<AdminEvent, { type: "config" }>["data"];

/** What the command says, and its exit code. */
function goblin(...args: string[]): Promise<{ code: number; out: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], (error, out) =>
      resolve({ code: error ? Number(error.code) : 0, out }),
    );
  });
}

function observe({ origin }: Served) {
  const client = createAdminClient({ url: origin });
  const abort = new AbortController();
  onDispose(async () => abort.abort());
  const told: ConfigEvent[] = [];
  const opened = new Promise<void>((onOpen, reject) => {
    const onEvent = (event: AdminEvent): void => {
      if (event.type === "config") told.push(event.data);
    };
    client.stream({ signal: abort.signal, onOpen, onEvent }).catch(reject);
  });
  return {
    told,
    opened,
    problem: async () => (await client.request(adminRoutes.getState, {})).configProblem,
    metric: async (name: string, labels: Record<string, string> = {}) =>
      valueIn(parsePrometheus(await (await fetch(`${origin}/metrics`)).text()), name, labels),
  };
}

async function start() {
  const one = await startScripted({ name: "one" });
  const secret = "sk-very-secret-0123456789";
  const metaTools = { enabled: ["goblin_health"] };
  const valid = { mcpServers: { one: { ...one.entry, env: { KEY: secret } } }, metaTools };
  const home = await serveHome(valid);
  const served = await startServe(home);
  await until(async () => (await fetch(`${served.origin}/ready`)).ok, { what: "/ready" });
  const raw = rawHttp(served.url);
  await raw.initialize();
  const watching = observe(served);
  await watching.opened;
  /** Two mistakes, each with a place; the secret stands beside them. */
  const broken = `{\n  "mcpServers": {\n    "docs": { "urll": "https://docs.example/mcp?key=${secret}" }\n  },\n  "limit": {}\n}`;
  return { one, secret, valid, broken, home, served, raw, ...watching };
}

/** What docs/api.md shows, for a file elsewhere. */
function documented(file: string): ConfigProblem {
  const [, json] = /^```json\n(\{\n {2}"at"[\s\S]*?)^```/m.exec(read("docs/api.md"))!;
  return { ...JSON.parse(json!.replaceAll("/etc/goblin.json", file)), at: expect.any(Number) };
}

function read(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
}

describe("a broken edit of a watched file", () => {
  it("is in the state, the events, the metrics, the status and the health until it is mended", async () => {
    const { one, secret, valid, broken, home, served, raw, told, problem, metric } = await start();
    const pidOf = async (): Promise<number> =>
      (await raw.call("tools/call", { name: "one_whoami", arguments: {} })).message.result.structuredContent.pid;
    const health = async () =>
      (await raw.call("tools/call", { name: "goblin_health" })).message.result.structuredContent;
    const pid = await pidOf();
    expect(await problem()).toBeNull();
    expect(await metric("mcpConfigLastReloadOk")).toBe(1);
    expect((await health()).configValid).toBe(true);
    const slow = raw.call("tools/call", { name: "one_sleep", arguments: { ms: 2000 } });
    await one.waitFor((record) => record.message?.params?.name === "sleep");

    home.write(broken);
    await until(() => told.length === 1, { what: "the event" });
    const expected = documented(home.configFile);
    expect(told[0]?.problem).toEqual(expected);
    expect(await problem()).toEqual(expected);
    expect(await metric("mcpConfigReloadsTotal", { outcome: "failed" })).toBe(1);
    expect(await metric("mcpConfigReloadsTotal", { outcome: "ok" })).toBe(0);
    expect(await metric("mcpConfigLastReloadOk")).toBe(0);
    expect(await health()).toMatchObject({ status: "ok", configValid: false });
    const [text, json] = await Promise.all([
      goblin("status", "--url", served.origin),
      goblin("status", "--json", "--url", served.origin),
    ]);
    expect(text.code).toBe(0);
    expect(text.out).toMatch(/^ {2}not applied \d+s ago; the previous config stays in use:$/m);
    expect(text.out).toContain(`  ${home.configFile}:3:15 mcpServers.docs.urll: unknown key (did you mean "url"?)\n`);
    expect(text.out).toContain(`  ${home.configFile}:5:3 limit: unknown key (did you mean "limits"?)\n`);
    expect(JSON.parse(json.out).configProblem).toEqual(expected);
    for (const shown of [text.out, json.out, JSON.stringify(told)]) expect(shown).not.toContain(secret);
    expect((await slow).message.result.content).toEqual([{ type: "text", text: "slept 2000" }]);
    expect(await pidOf()).toBe(pid);

    home.write(valid);
    await until(() => told.length === 2, { what: "the event of the mending" });
    expect(told[1]).toEqual({ problem: null });
    expect(await problem()).toBeNull();
    expect(await metric("mcpConfigReloadsTotal", { outcome: "ok" })).toBe(1);
    expect(await metric("mcpConfigLastReloadOk")).toBe(1);
    expect((await health()).configValid).toBe(true);
    expect((await goblin("status", "--url", served.origin)).out).not.toContain("not applied");
    expect(await pidOf()).toBe(pid);
    expect(await one.events("start")).toHaveLength(1);
  });

  it("is told the same way when SIGHUP or POST /api/reload found it, and by what comes after", async () => {
    const { home, valid, broken, served, told, problem } = await start();
    const reload = () =>
      fetch(`${served.origin}/api/reload`, { method: "POST", headers: { "content-type": "application/json" } });
    // Not seen by the watcher: it looks at the file only while it is there.
    rmSync(home.configFile);
    served.signal("SIGHUP");
    await until(() => told.length === 1, { what: "the event of SIGHUP" });
    const missing = { file: home.configFile, line: null, column: null, key: null, hint: null };
    expect(told[0]?.problem?.problems).toEqual([{ ...missing, message: "there is no such file" }]);
    expect(told[0]?.problem?.summary).toBe(`${home.configFile}: there is no such file`);
    expect((await reload()).status).toBe(422);

    home.write(broken);
    expect((await reload()).status).toBe(422);
    expect(await problem()).toMatchObject({ problems: [{ key: "mcpServers.docs.urll" }, { key: "limit" }] });

    home.write(valid);
    expect((await reload()).status).toBe(200);
    expect(await problem()).toBeNull();
    await until(() => told.at(-1)?.problem === null, { what: "the event of the mending" });
  });

  it.runIf(hasTmux)("is on every panel of a dashboard that is open, and goes away by itself", async () => {
    const { valid, broken, home, served } = await start();
    const term = openTerminal({ columns: 80, rows: 24 });
    onDispose(async () => term.close());
    term.keys(`${command(served.origin)}; echo exit=$?`, "Enter");
    await term.until((screen) => /● one +ready/.test(screen));
    expect(term.screen()).not.toContain("Config not applied");

    home.write(broken);
    const banner = " Config not applied: 3:15 mcpServers.docs.urll: unknown key          and 1 more";
    expect(read("docs/dashboard.md")).toContain(`\n${banner}\n`);
    const rowOf = (screen: string): string | undefined =>
      screen.split("\n").find((row) => row.includes("Config not applied"));
    expect(rowOf(await term.until("Config not applied"))).toBe(banner);
    for (const [key, what] of [
      ["2", "VIA"],
      ["3", "DESCRIPTION"],
      ["4", "ARGUMENTS"],
      ["5", "MIME TYPE"],
      ["6", "LEVEL SERVER"],
    ] as const) {
      term.keys(key);
      expect(rowOf(await term.until(what))).toBe(banner);
    }
    term.resize(120, 30);
    await term.until(' Config not applied: goblin.json:3:15 mcpServers.docs.urll: unknown key (did you mean "url"?)');

    home.write(valid);
    await term.until((screen) => !screen.includes("Config not applied"));
    term.keys("q");
    await term.until("exit=0");
  });
});

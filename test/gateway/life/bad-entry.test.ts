/**
 * An entry of the config that cannot be used: its server is shown as invalid, with the place and
 * the reason; every other server runs, and nobody gets its names.
 */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { commandHome } from "../../fixtures/command.ts";
import { disposeAll, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { parsePrometheus, valueIn } from "../../fixtures/prometheus.ts";
import { type Served, serveHome, startServe } from "../../fixtures/serve.ts";
import { build } from "../../tui/pty.ts";
import { requestsOf } from "../offerings/rig.ts";

beforeAll(build, 120_000);
afterEach(disposeAll);

const UNSET = "the environment variable GOBLIN_TEST_UNSET is not set";
const bad = { command: "x", env: { KEY: "${env:GOBLIN_TEST_UNSET}" } };

async function rows({ origin }: Served): Promise<Map<string, { state: string; reason: string | null }>> {
  const { items } = (await (await fetch(`${origin}/api/servers`)).json()) as {
    items: { id: string; state: string; reason: string | null }[];
  };
  return new Map(items.map((row) => [row.id, row]));
}

async function start() {
  const inputSchema = { type: "object" };
  // It lists a tool under the name of the server that cannot run.
  const other = await startScripted({
    name: "other",
    transport: "http",
    script: { lists: { tools: [{ name: "gh_push", inputSchema }] } },
  });
  const good = await startScripted({ name: "good" });
  const off = { urll: "http://127.0.0.1:1", enabled: false };
  const config = { mcpServers: { gh: bad, off, good: good.entry, other: { ...other.entry, prefix: "" } } };
  const home = await serveHome(config);
  const served = await startServe(home);
  await until(async () => (await rows(served)).get("other")?.state === "ready", { what: "the other server" });
  await until(async () => (await rows(served)).get("good")?.state === "ready", { what: "the good server" });
  const client = rawHttp(served.url);
  await client.initialize();
  return { other, good, config, home, served, client };
}

describe("an entry that cannot be used", () => {
  test("disables its server with the reason, and no other", async () => {
    const { other, served, home, client } = await start();
    const reason = `its config entry is not valid: goblin.json:1:49 mcpServers.gh.env.KEY: ${UNSET} (set it, or give a default: \${env:GOBLIN_TEST_UNSET:-…})`;
    expect((await rows(served)).get("gh")).toMatchObject({ state: "invalid", reason });
    expect((await rows(served)).get("off")).toMatchObject({ state: "disabled", reason: null });
    expect(served.out()).toContain("(2 servers, 1 invalid; ");
    const answer = await client.call("tools/call", { name: "good_whoami", arguments: {} });
    expect(answer.message.result.isError).not.toBe(true);

    const refused = await client.call("tools/call", { name: "gh_push", arguments: { token: "secret" } });
    expect(refused.message.error).toMatchObject({
      message: `Server "gh" is unavailable: ${reason}`,
      data: { code: "BACKEND_UNAVAILABLE", serverId: "gh", reason },
    });
    expect(refused.message.error.data).not.toHaveProperty("retryAfterMs");
    expect(await requestsOf(other)).toEqual([]);

    const metrics = parsePrometheus(await (await fetch(`${served.origin}/metrics`)).text());
    expect(valueIn(metrics, "mcpBackendState", { serverId: "gh", state: "invalid" })).toBe(1);
    const logged = served
      .log()
      .split("\n")
      .find((line) => line.includes(UNSET));
    expect(JSON.parse(logged!)).toMatchObject({ level: 50, server: "gh" });
    expect(logged).toContain(`${home.configFile}:1:49 mcpServers.gh.env.KEY`);

    for (const verb of ["restart", "enable"]) {
      const init = { method: "POST", headers: { "content-type": "application/json" } };
      const response = await fetch(`${served.origin}/api/servers/gh/${verb}`, init);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ error: { code: "CONFIG_INVALID" } });
    }
    const status = await commandHome().goblin("status", "--url", served.origin);
    expect(status.code).toBe(1);
    expect(status.out).toMatch(/^gh +invalid +stdio .*GOBLIN_TEST_UNSET is not set/m);
    const check = await commandHome().goblin("check", "--config", home.configFile, "--json");
    expect(check.code).toBe(1);
    expect(JSON.parse(check.out)).toMatchObject({
      ok: false,
      errors: [{ key: "mcpServers.gh.env.KEY" }, { key: "mcpServers.off.urll" }],
    });
  });

  test("a reload applies everything else, and a mended entry brings its server up", async () => {
    const { good, config, home, served, client } = await start();
    const { KEY: _key, ...env } = bad.env;
    const mended = { ...good.entry, env };
    home.write({ mcpServers: { ...config.mcpServers, gh: mended, late: { urll: "http://127.0.0.1:1" } } });
    await until(async () => (await rows(served)).get("gh")?.state === "ready", { what: "the mended server" });
    expect((await rows(served)).get("late")).toMatchObject({ state: "invalid" });
    const pid = async () =>
      (await client.call("tools/call", { name: "good_whoami", arguments: {} })).message.result.structuredContent.pid;
    const before = await pid();

    home.write({ mcpServers: { ...config.mcpServers, gh: { ...mended, tiemout: 1 } } });
    await until(async () => (await rows(served)).get("gh")?.state === "invalid", { what: "the broken server" });
    expect((await rows(served)).has("late")).toBe(false);
    expect(await pid()).toBe(before);
    const refused = await client.call("tools/call", { name: "gh_whoami", arguments: {} });
    expect(refused.message.error.message).toContain("mcpServers.gh.tiemout: unknown key");
    expect(await (await fetch(`${served.origin}/api/state`)).json()).toMatchObject({ configProblem: null });
  });
});

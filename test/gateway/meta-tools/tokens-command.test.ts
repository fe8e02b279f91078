import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { run } from "../../../src/app/cli/run.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, startScripted } from "../../fixtures/peers.ts";

afterEach(disposeAll);

async function goblin(...argv: string[]): Promise<{ code: number; out: string }> {
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((line) => void lines.push(String(line)));
  const errors = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    return { code: await run(argv), out: lines.join("\n") };
  } finally {
    log.mockRestore();
    errors.mockRestore();
  }
}

test("goblin tokens prints servers, lists, the ten heaviest and names that may be refused", async () => {
  const tools = Array.from({ length: 12 }, (_, n) => ({
    name: n === 0 ? "dotted.name" : `t${String(n).padStart(2, "0")}`,
    description: "word ".repeat(n * 5),
    inputSchema: { type: "object" },
  }));
  const server = await startScripted({ name: "a", script: { lists: { tools } } });
  const folder = mkdtempSync(join(tmpdir(), "tokens-"));
  onDispose(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "goblin.json");
  const config = { mcpServers: { a: server.entry, gone: { command: "no-such-command-here" } }, metaTools: {} };
  writeFileSync(file, JSON.stringify(config));

  const { code, out } = await goblin("tokens", "--config", file);
  expect(code).toBe(0);
  expect(out).toMatch(/^server +state +tools +tokens +listed +tokens$/m);
  expect(out).toMatch(/^a +ready +12 +[\d,]+ +12 +[\d,]+$/m);
  expect(out).toMatch(/^gone +(down|connecting) +0 +0 +0 +0$/m);
  expect(out).toMatch(/^all +12 +[\d,]+$/m);
  expect(out).toMatch(/^search +3 +[\d,]+$/m);
  const heaviest = out.slice(out.indexOf("heaviest tools ")).split("\n\n")[0]!.split("\n").slice(1);
  expect(heaviest.map((line) => line.trim().split(/ +/)[0])).toEqual(
    ["11", "10", "09", "08", "07", "06", "05", "04", "03", "02"].map((n) => `a_t${n}`),
  );
  expect(out).toMatch(/\nnames that model APIs may refuse .*\na_dotted\.name$/);

  const json = JSON.parse((await goblin("tokens", "--json", "-c", file)).out);
  expect(json.tools).toHaveLength(12);
  expect(json.servers[0]).toMatchObject({ serverId: "a", state: "ready", tools: 12, listedTools: 12 });
  expect(json.all.tokens).toBe(json.own.tokens + json.servers[0].tokens);
  expect(json.refusedNames).toEqual([{ name: "a_dotted.name", serverId: "a" }]);

  // A gateway that runs is asked; its servers are not started a second time.
  const running = await startGoblin(config);
  const starts = (await server.events("start")).length;
  const asked = JSON.parse((await goblin("tokens", "--json", "--url", running.origin)).out);
  expect({ ...asked, servers: asked.servers[0] }).toEqual({ ...json, servers: json.servers[0] });
  expect(await server.events("start")).toHaveLength(starts);
});

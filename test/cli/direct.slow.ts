/** `goblin doctor --direct`: real servers do not differ, and what a lossy way changes is found. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { compareWays, type Way } from "../../src/admin/doctor/compare.ts";
import { McpClient } from "../../src/app/cli/gateway/mcp-client.ts";
import { commandHome } from "../fixtures/command.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";

vi.setConfig({ testTimeout: 120_000 });
afterEach(disposeAll);

const require = createRequire(import.meta.url);
const reference = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [join(dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`)), "dist/index.js"), ...args],
});

test("the reference servers: no difference", async () => {
  const home = commandHome();
  const config = home.write("reference.json", {
    mcpServers: {
      everything: reference("everything"),
      files: reference("filesystem", home.folder),
      memory: { ...reference("memory"), env: { MEMORY_FILE_PATH: join(home.folder, "memory.jsonl") } },
    },
  });
  const { code, out, err } = await home.goblin("doctor", "--direct", "--config", config, "--json");
  const rows = JSON.parse(out) as { server: string; requests: number; differences: unknown[]; skipped: string[] }[];
  expect([err, rows.map(({ server, differences }) => [server, differences])]).toEqual([
    "",
    [
      ["everything", []],
      ["files", []],
      ["memory", []],
    ],
  ]);
  expect(code).toBe(0);
  for (const { requests, skipped } of rows) expect(requests - skipped.length).toBeGreaterThan(8);
});

test("a way that loses something is found out", async () => {
  const annotations = { readOnlyHint: true };
  const tools = [{ name: "echo", description: "Says it again", inputSchema: { type: "object" }, annotations }];
  const server = await startScripted({ transport: "http", script: { lists: { tools } } });
  const { url } = server.entry as { url: string };
  const connect = () => McpClient.connect((init) => fetch(url, init), {});
  const [direct, other] = [await connect(), await connect()];
  const lossy: Way = {
    list: async (method, member) => (await other.list(method, member)).map(({ description: _lost, ...rest }) => rest),
    request: async (method, params) => {
      const result = await other.request(method, params);
      return method === "tools/call" ? { ...result, extra: 1 } : result;
    },
  };
  expect((await compareWays(direct, other)).differences).toEqual([]);
  const { differences } = await compareWays(direct, lossy);
  expect(differences).toContainEqual({
    request: "tools/list",
    at: "echo.description",
    direct: "Says it again",
    through: undefined,
  });
  expect(differences).toContainEqual({ request: "tools/call echo", at: "extra", direct: undefined, through: 1 });
});

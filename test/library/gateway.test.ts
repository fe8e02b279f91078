/** The public surface, used as a program uses it, with real servers. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import {
  type CallRecord,
  ConfigError,
  type ConfigObject,
  createGateway,
  type Gateway,
  type GatewayOptions,
  type LogLine,
  loadConfig,
} from "../../src/app/library/index.ts";
import { disposeAll, onDispose, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

const program = fileURLToPath(new URL("../../dist/app/demo/main.js", import.meta.url));
const demo = (id: string) => ({ command: process.execPath, args: [program, id] });
const clock: ConfigObject = { mcpServers: { clock: demo("clock") }, gateway: { port: 0 } };

function gatewayOf(config: GatewayOptions["config"], log?: (line: LogLine) => void): Gateway {
  const gateway = createGateway({ config, log });
  onDispose(() => gateway.close());
  return gateway;
}

function post(message: object, url = "http://127.0.0.1/mcp", headers: Record<string, string> = {}): Request {
  const own = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
  return new Request(url, { method: "POST", headers: own, body: JSON.stringify(message) });
}

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

test("what is handed out is the public surface and nothing else", () => {
  expect(Object.keys(gatewayOf({})).sort()).toEqual([
    "callTool",
    "close",
    "events",
    "fetch",
    "listen",
    "reload",
    "snapshot",
    "start",
    "stdio",
  ]);
});

describe("the config", () => {
  test("an object is refused with the errors that the file gets, by key", () => {
    const config = { mcpServers: { docs: { urll: "https://example.com", url: "https://example.com" } } };
    const message = 'config: mcpServers.docs.urll: unknown key (did you mean "url"?)';
    expect(() => createGateway({ config })).toThrow(message);
    expect(() => createGateway({ config })).toThrow(ConfigError);
    expect(() => createGateway({ config: { gateway: { port: 70_000 } } })).toThrow(/^config: gateway\.port: /);
  });

  test("a file is taken as loadConfig read it, with its warnings", async () => {
    const folder = mkdtempSync(join(tmpdir(), "goblin-library-"));
    onDispose(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "goblin.json");
    writeFileSync(path, JSON.stringify({ ...clock, globalShortcut: "x", log: { level: "${env:LEVEL}" } }));
    const config = await loadConfig(path, { LEVEL: "error" });
    expect(config).toMatchObject({ path, warnings: [{ key: "globalShortcut" }] });
    const gateway = gatewayOf(config);
    await gateway.start();
    expect(gateway.snapshot().servers).toMatchObject([{ id: "clock", state: "ready", reason: null }]);
    await expect(loadConfig(join(folder, "none.json"))).rejects.toThrow("there is no such file");
  });
});

describe("fetch", () => {
  test("serves a plain Request, whose URL names the host", async () => {
    const gateway = gatewayOf(clock);
    for (const host of ["127.0.0.1", "localhost:3000", "[::1]"]) {
      const answer = await gateway.fetch(post(ping, `http://${host}/mcp`));
      expect([host, answer.status]).toEqual([host, 400]);
      expect(await answer.text()).not.toContain("not allowed");
    }
    expect((await gateway.fetch(new Request("http://localhost/api/servers"))).status).toBe(200);
    expect((await gateway.fetch(new Request("http://localhost/health"))).status).toBe(200);
  });

  test("refuses another host by its name, in the URL or in the header, which counts more", async () => {
    const gateway = gatewayOf({});
    const refused = async (request: Request): Promise<unknown> => {
      const answer = await gateway.fetch(request);
      expect(answer.status).toBe(403);
      return ((await answer.json()) as { error: { message: string } }).error.message;
    };
    const message = 'Host "evil.example" not allowed: add it to "gateway.allowedHosts"';
    expect(await refused(post(ping, "http://evil.example:80/mcp"))).toBe(message);
    expect(await refused(post(ping, "http://127.0.0.1/mcp", { host: "evil.example" }))).toBe(message);
    expect(await refused(new Request("http://evil.example/api/servers"))).toBe(message);
    const origin = { origin: "https://evil.example" };
    expect(await refused(post(ping, "http://127.0.0.1/mcp", origin))).toContain('Origin "https://evil.example"');
  });

  test("starts the servers: a client needs nothing else", async () => {
    const gateway = gatewayOf(clock);
    const asks = { name: "test", version: "1" };
    const opened = await gateway.fetch(
      post({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: asks },
      }),
    );
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "clock_now", arguments: {} } };
    const answer = await gateway.fetch(post(call, "http://localhost/mcp", session));
    expect(await answer.text()).toContain('"timeZone');
  });
});

describe("callTool", () => {
  test("gives the result, and a tool's failure as one", async () => {
    const gateway = gatewayOf({ mcpServers: { clock: demo("clock"), lab: demo("lab") } });
    const { content, isError } = await gateway.callTool("clock_now", { timeZone: "UTC" });
    expect([content?.[0]?.type, isError ?? false]).toEqual(["text", false]);
    expect((await gateway.callTool("lab_fail")).isError).toBe(true);
  });

  test("throws what has no result, with its code", async () => {
    const gateway = gatewayOf(clock);
    await gateway.start();
    await expect(gateway.callTool("clock_never")).rejects.toMatchObject({ name: "CallError", code: "TOOL_NOT_FOUND" });
    const signal = AbortSignal.abort();
    await expect(gateway.callTool("clock_now", {}, { signal })).rejects.toMatchObject({ code: "CANCELLED" });
  });
});

test("snapshot is a copy in plain data", async () => {
  const gateway = gatewayOf({ mcpServers: { notes: demo("notes"), off: { ...demo("clock"), enabled: false } } });
  await gateway.start();
  const before = gateway.snapshot();
  expect(JSON.parse(JSON.stringify(before))).toEqual(before);
  expect(before.servers.map(({ id, state }) => [id, state])).toEqual([
    ["notes", "ready"],
    ["off", "disabled"],
  ]);
  expect(before.tools.map(({ name, originalName, serverId }) => [name, originalName, serverId])).toContainEqual([
    "notes_search",
    "search",
    "notes",
  ]);
  expect(before.prompts.map(({ serverId }) => serverId)).toEqual(["notes"]);
  expect(before.resources[0]).toMatchObject({ uri: "notes+note:///1", originalUri: "note:///1" });
  expect(before.templates.length).toBeGreaterThan(0);
  Object.assign(before.tools[0]!.inputSchema, { broken: true });
  expect(gateway.snapshot().tools[0]?.inputSchema).not.toHaveProperty("broken");
});

test("events tell of servers, lists, calls and configs; a reload says what changed", async () => {
  const gateway = gatewayOf(clock);
  const seen: string[] = [];
  const calls: CallRecord[] = [];
  gateway.events.on("server", ({ id, server }) => seen.push(`${id} ${server?.state ?? "gone"}`));
  gateway.events.on("catalog", ({ kinds }) => seen.push(`catalog ${kinds.includes("tools")}`));
  gateway.events.on("call", (call) => calls.push(call));
  gateway.events.on("config", ({ added, removed }) => seen.push(`config +${added} -${removed}`));
  await gateway.start();
  await until(() => seen.includes("clock ready") && seen.includes("catalog true"));
  await gateway.callTool("clock_now");
  await until(() => calls.length === 1);
  expect(calls[0]).toMatchObject({ method: "tools/call", name: "clock_now", serverId: "clock", outcome: "ok" });

  const changes = await gateway.reload({ mcpServers: { lab: demo("lab") }, gateway: { port: 1 } });
  expect(changes).toEqual({
    added: ["lab"],
    removed: ["clock"],
    changed: [],
    settings: [],
    restartNeeded: ["gateway.port"],
  });
  await until(() => seen.includes("clock gone") && seen.includes("config +lab -clock"));
  expect(gateway.snapshot().servers).toMatchObject([{ id: "lab", state: "ready" }]);
  await expect(gateway.reload({ gateway: { port: -1 } })).rejects.toThrow(ConfigError);
  expect(gateway.snapshot().servers).toHaveLength(1);
});

test("the log is silent unless somebody takes its lines", async () => {
  const lines: LogLine[] = [];
  const config: ConfigObject = { mcpServers: { none: { command: "/does/not/exist" } } };
  await gatewayOf(config, (line) => lines.push(line)).start();
  expect(lines.map(({ server, level }) => [server, level])).toContainEqual(["none", "warn"]);
});

test("listen and stdio serve clients", async () => {
  const gateway = gatewayOf(clock);
  const { url, port } = await gateway.listen();
  expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
  expect((await fetch(new URL("/health", url))).status).toBe(200);

  const [input, output] = [new PassThrough(), new PassThrough()];
  const client = gateway.stdio({ input, output });
  input.write(`${JSON.stringify({ ...ping, id: 7, method: "nothing" })}\n`);
  const [line] = (await output.take(1).toArray()) as [Buffer];
  expect(JSON.parse(line.toString())).toMatchObject({ id: 7 });
  input.end();
  await client.closed;
});

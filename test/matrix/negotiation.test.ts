/**
 * How the gateway finds out what a server speaks: without starting a program twice, without
 * trusting an old finding for ever, and without being told. A server that comes back as another one
 * is found out again.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, type Scripted, startScripted, until } from "../fixtures/peers.ts";
import { connectSpeaker } from "./speakers.ts";

afterEach(disposeAll);

async function speaks(goblin: RunningGoblin): Promise<unknown> {
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  const { message } = await raw.call("tools/call", { name: "s_whoami", arguments: {} });
  await raw.delete();
  return message.result?.structuredContent.era;
}

test.each([
  ["stdio", "legacy", "legacy"],
  ["stdio", "modern", "modern"],
  ["stdio", "dual", "legacy"],
  ["http", "legacy", "legacy"],
  ["http", "modern", "modern"],
  // A client with a session is served with a handshake: see `eras.test.ts`.
  ["http", "dual", "legacy"],
  ["sse", "legacy", "legacy"],
] as const)("a server over %s that is %s: spoken to as %s, started once", async (transport, era, found) => {
  const server = await startScripted({ transport, era, name: "s" });
  const goblin = await startGoblin({ mcpServers: { s: server.entry } });
  expect(await speaks(goblin)).toBe(found);
  expect(await server.events("start")).toHaveLength(1);
  expect(await server.events("violation")).toEqual([]);
});

test("an address without a type is tried as everything, the newest first", async () => {
  for (const [transport, era] of [
    ["http", "modern"],
    ["http", "legacy"],
    ["sse", "legacy"],
  ] as const) {
    const server = await startScripted({ transport, era, name: "s" });
    const goblin = await startGoblin({ mcpServers: { s: { url: server.url } } });
    expect(await speaks(goblin)).toBe(era);
  }
});

test("a program is asked on the same process, and one that dies of the question is taken for an old one", async () => {
  const rules = [{ method: "server/discover", do: "crash" }];
  const server = await startScripted({ transport: "stdio", name: "s", script: { rules } });
  const goblin = await startGoblin({ mcpServers: { s: server.entry } });
  expect(await speaks(goblin)).toBe("legacy");
  expect(await server.events("start")).toHaveLength(1);
});

test("a server that answers nothing to the newer question is spoken to in the older way", async () => {
  const rules = [{ method: "server/discover", do: "status", status: 500, body: "what?" }];
  const server = await startScripted({ transport: "http", name: "s", script: { rules } });
  const goblin = await startGoblin({ mcpServers: { s: server.entry } });
  expect(await speaks(goblin)).toBe("legacy");
});

const turns = [
  ["legacy", "modern"],
  ["modern", "legacy"],
] as const;

test.each(turns)("a program that was %s and comes back %s is understood", async (before, after) => {
  const server = await startScripted({ transport: "stdio", name: "s" });
  const folder = mkdtempSync(join(tmpdir(), "era-"));
  onDispose(() => rmSync(folder, { recursive: true }));
  const eraFile = join(folder, "era");
  writeFileSync(eraFile, before);
  const args = ["-c", `exec "$@" --era "$(cat '${eraFile}')"`, "sh", server.command, ...server.args];
  const goblin = await startGoblin({ mcpServers: { s: { command: "sh", args } } });
  expect(await speaks(goblin)).toBe(before);
  writeFileSync(eraFile, after);
  await server.kill();
  await until(async () => (await speaks(goblin)) === after, { everyMs: 50, what: `a call in the ${after} way` });
  expect(await server.events("start")).toHaveLength(2);
});

test.each(turns)(
  "an address that was %s and comes back %s is understood, subscriptions included",
  async (before, after) => {
    const server = await startScripted({ transport: "http", era: before, name: "s" });
    const goblin = await startGoblin({ mcpServers: { s: server.entry } });
    const session = await connectSpeaker({ goblin, version: "2025-11-25", way: "http" });
    const modern = await connectSpeaker({ goblin, version: "2026-07-28", way: "http" });
    await session.watch("s+text:///hello");
    await modern.watch("s+text:///hello");
    expect(await speaks(goblin)).toBe(before);
    await server.kill();
    startAs(server, after);
    await until(async () => (await speaks(goblin)) === after, {
      everyMs: 50,
      what: `a call in the ${after} way`,
    });
    const updates = (speaker: typeof session) =>
      speaker.heard.filter((m) => m.method === "notifications/resources/updated");
    await until(() => updates(session).length > 0 && updates(modern).length > 0, {
      what: "the update that may have been missed",
    });
    const [one, two] = [updates(session).length, updates(modern).length];
    await server.control("touch", { uri: "text:///hello" });
    await until(() => updates(session).length > one && updates(modern).length > two, { what: "a new update" });
  },
);

test("a server that refuses the handshake and names 2026-07-28 is spoken to in it at once (C10)", async () => {
  const seen: string[] = [];
  let isUpgraded = false;
  const listed = { tools: [{ name: "whoami", inputSchema: { type: "object" } }] };
  const said = (era: string) => ({ content: [], structuredContent: { era } });
  const legacy: Record<string, unknown> = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    "tools/list": listed,
    "tools/call": said("legacy"),
  };
  const modern: Record<string, unknown> = {
    "server/discover": {
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      ttlMs: 0,
      cacheScope: "private",
    },
    "tools/list": { ...listed, ttlMs: 0, cacheScope: "private" },
    "tools/call": said("modern"),
  };
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const reply = (status: number, body?: unknown, headers = {}): void => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body === undefined ? "" : JSON.stringify(body));
    };
    if (request.method !== "POST") return reply(405);
    const { id, method } = JSON.parse(text);
    seen.push(method);
    if (id === undefined) return reply(202);
    if (isUpgraded && request.headers["mcp-session-id"] !== undefined) return reply(404);
    const results = isUpgraded ? modern : legacy;
    if (isUpgraded && method === "initialize") {
      const data = { supported: ["2026-07-28"], requested: "2025-11-25" };
      return reply(400, { jsonrpc: "2.0", id, error: { code: -32022, message: "Unsupported protocol version", data } });
    }
    if (!(method in results)) return reply(404, { jsonrpc: "2.0", id, error: { code: -32601, message: "No" } });
    const result = { ...(isUpgraded && { resultType: "complete" }), ...(results[method] as object) };
    reply(200, { jsonrpc: "2.0", id, result }, isUpgraded ? {} : { "mcp-session-id": "one" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onDispose(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const goblin = await startGoblin({ mcpServers: { s: { type: "http", url: `http://127.0.0.1:${port}/mcp` } } });
  expect(await speaks(goblin)).toBe("legacy");
  isUpgraded = true;
  seen.length = 0;
  await until(async () => (await speaks(goblin)) === "modern");
  expect(seen.filter((method) => method === "initialize" || method === "server/discover").slice(0, 2)).toEqual([
    "initialize",
    "server/discover",
  ]);
  expect(goblin.logs.filter((line) => line.extra?.["state"] === "down")).toEqual([]);
});

/** The same address and log, another version. */
function startAs(server: Scripted, era: string): void {
  const port = new URL(server.url).port;
  spawn(server.command, [...server.args, "--era", era, "--tied", "--port", port], {
    stdio: ["pipe", "ignore", "ignore"],
  });
}

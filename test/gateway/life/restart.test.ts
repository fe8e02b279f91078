/**
 * A restart of the gateway that its clients do not feel: the same state folder, the same address,
 * another gateway.
 */
import { appendFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createGateway, type Gateway } from "../../../src/app/gateway.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { openState } from "../../../src/core/session/continuity.ts";
import { createLogger } from "../../../src/observe/telemetry/logger.ts";
import { connectV1, disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

interface Home {
  readonly folder: string;
  readonly config: Record<string, unknown>;
  port: number;
}

function newHome(config: Record<string, unknown>): Home {
  const folder = mkdtempSync(join(tmpdir(), "goblin-state-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, config, port: 0 };
}

/** One life of the gateway; the first one chooses the port. */
async function live(home: Home, env: Record<string, string> = {}): Promise<Gateway & { url: string }> {
  const text = JSON.stringify({ ...home.config, gateway: { ...(home.config["gateway"] as object), port: home.port } });
  const { config } = parseConfig(text, { file: "test.json", env: {} });
  const log = createLogger({ level: "silent", format: "json", stream: { write: () => {} } });
  const state = await openState({
    env: { XDG_STATE_HOME: home.folder, ...env },
    endpoint: "127.0.0.1:fixed",
    warn: (message) => {
      throw new Error(message);
    },
  });
  const gateway = createGateway({ config, log, state });
  onDispose(() => gateway.close());
  const { url, port } = await gateway.listen();
  home.port = port;
  await gateway.start();
  return Object.assign(gateway, { url });
}

describe("a restart", () => {
  it("leaves sessions to the account that opened them", async () => {
    const home = newHome({
      mcpServers: {},
      gateway: { auth: { tokens: ["alpha-token", "beta-token"] } },
      limits: { sessions: 4 },
    });
    const as = (token: string) => {
      const raw = rawHttp(first.url);
      raw.headers["authorization"] = `Bearer ${token}`;
      return raw;
    };
    const first = await live(home);
    const open = [as("alpha-token"), as("alpha-token")];
    for (const raw of open) await raw.initialize();
    await first.close({ drain: true });
    await live(home);
    for (const raw of open) expect((await raw.call("ping")).status).toBe(200);
    expect((await as("alpha-token").initialize()).status).toBe(503);
    expect((await as("beta-token").initialize()).status).toBe(200);
  });

  it("is not felt by a client of the SDK: same session, same subscriptions, one synthetic update", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const home = newHome({ mcpServers: { one: server.entry } });
    const first = await live(home);
    const { client, notifications } = await connectV1({ url: first.url });
    await client.subscribeResource({ uri: "one+text:///hello" });
    const updates = () => notifications.filter(({ method }) => method === "notifications/resources/updated");
    // The client's own stream is open when this arrives; a client whose stream could never be
    // opened does not try again.
    await server.control("touch", { uri: "text:///hello" });
    await until(() => updates().length === 1, { what: "an update" });
    await first.close({ drain: true });
    await live(home);
    const answer = await client.callTool({ name: "one_echo", arguments: { text: "after" } });
    expect(answer["structuredContent"]).toEqual({ text: "after" });
    await until(() => updates().length === 2, { what: "the synthetic update" });
    await server.control("touch", { uri: "text:///hello" });
    await until(() => updates().length === 3, { what: "a real update" });
    expect(new Set(updates().map(({ params }) => params?.["uri"]))).toEqual(new Set(["one+text:///hello"]));
  });

  it("keeps what was negotiated, and the log level", async () => {
    const server = await startScripted({ name: "one" });
    const home = newHome({ mcpServers: { one: { ...server.entry, share: "session" } } });
    const first = await live(home);
    const raw = rawHttp(first.url);
    await raw.initialize("2025-03-26", { roots: { listChanged: true } });
    await raw.call("logging/setLevel", { level: "error" });
    await first.close();
    await live(home);
    // Only that version has batches, and the server sees the same client.
    const batch = await raw.post([{ jsonrpc: "2.0", id: 1, method: "ping" }]);
    expect(batch.json).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
    const me = await raw.call("tools/call", { name: "one_whoami", arguments: {} });
    expect(me.message.result.structuredContent.client).toMatchObject({
      info: { name: "raw", version: "1" },
      capabilities: { roots: { listChanged: true } },
    });
    for (const [level, heard] of [
      ["info", 0],
      ["critical", 1],
    ] as const) {
      const { messages } = await raw.call("tools/call", { name: "one_log", arguments: { level, text: "x" } });
      expect(messages.filter(({ method }) => method === "notifications/message")).toHaveLength(heard);
    }
  });

  it("takes up nothing that is forged, ended, foreign or somebody else's: 404, so that the client starts anew", async () => {
    const home = newHome({ mcpServers: {}, gateway: { auth: { tokens: ["token-a", "token-b"] } } });
    const first = await live(home);
    const open = async () => {
      const raw = rawHttp(first.url);
      raw.headers["authorization"] = "Bearer token-a";
      await raw.initialize();
      return raw;
    };
    const [kept, deleted, stolen] = [await open(), await open(), await open()];
    expect((await deleted.delete()).status).toBe(204);
    expect((await deleted.call("tools/list")).status).toBe(404);
    await first.close();
    const second = await live(home);
    expect((await kept.call("tools/list")).status).toBe(200);
    expect((await deleted.call("tools/list")).status).toBe(404);
    stolen.headers["authorization"] = "Bearer token-b";
    expect((await stolen.call("tools/list")).status).toBe(404);
    const id = kept.headers["mcp-session-id"]!;
    kept.headers["mcp-session-id"] = `${id.slice(0, -1)}${id.endsWith("A") ? "B" : "A"}`;
    expect((await kept.call("tools/list")).status).toBe(404);
    kept.headers["mcp-session-id"] = id;
    expect((await kept.delete()).status).toBe(204);
    expect((await kept.call("tools/list")).status).toBe(404);
    await second.close();
    // Another key opens none of them.
    await live(home, { GOBLIN_SECRET: "another" });
    stolen.headers["authorization"] = "Bearer token-a";
    expect((await stolen.call("tools/list")).status).toBe(404);
  });

  it("B8: takes up no session that ended, however many others ended after it", async () => {
    const home = newHome({ mcpServers: {} });
    const first = await live(home);
    const raw = rawHttp(first.url);
    await raw.initialize();
    expect((await raw.delete()).status).toBe(204);
    await first.close();
    const ends = Array.from({ length: 10_001 }, (_, n) => `{"op":"end","k":"other-${n}","t":${Date.now()}}\n`);
    appendFileSync(join(home.folder, "goblin/sessions-127.0.0.1-fixed.jsonl"), ends.join(""));
    for (let lives = 0; lives < 2; lives++) {
      const next = await live(home);
      expect((await raw.call("tools/list")).status).toBe(404);
      await next.close();
    }
  });

  it("takes up no session that was idle for too long, the time in between included", async () => {
    const home = newHome({ mcpServers: {}, limits: { sessionIdleMs: 300 } });
    const first = await live(home);
    const raw = rawHttp(first.url);
    await raw.initialize();
    await first.close();
    await new Promise((resolve) => setTimeout(resolve, 400));
    await live(home);
    expect((await raw.call("tools/list")).status).toBe(404);
  });

  it("keeps its key for its user alone, and goes on without a folder, with a warning", async () => {
    const home = newHome({ mcpServers: {} });
    await live(home);
    expect(statSync(join(home.folder, "goblin", "key")).mode & 0o777).toBe(0o600);
    const warnings: string[] = [];
    const state = await openState({
      env: { XDG_STATE_HOME: "/dev/null/nowhere" },
      endpoint: "127.0.0.1:3000",
      warn: (message) => warnings.push(message),
    });
    expect(state.journal).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("Sessions will not survive a restart")]);
  });
});

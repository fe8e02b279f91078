/**
 * Real clients of both SDK generations over every way into the gateway: connect, list, call,
 * cancel, progress, errors, close. The server's own log says whether a cancel arrived and whether
 * closing freed what the session held.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Client as ClientV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import {
  type Connected,
  connectV1,
  connectV2,
  disposeAll,
  onDispose,
  rawHttp,
  type Scripted,
  startScripted,
  type Target,
  until,
} from "../fixtures/peers.ts";
import { variants } from "../fixtures/thorough.ts";

afterEach(disposeAll);

const GOBLIN = fileURLToPath(new URL("../../bin/goblin.js", import.meta.url));

type AnyClient = ClientV1 | ClientV2;
type Way = "/mcp" | "/sse" | "stdio";

interface CallOptions {
  onprogress?: (progress: { progress: number; total?: number | undefined; message?: string | undefined }) => void;
  signal?: AbortSignal;
}

const connectors: Record<"v1" | "v2", (target: Target) => Promise<Connected<AnyClient>>> = {
  v1: connectV1,
  v2: connectV2,
};

/** The two generations take the options of a call at different places. */
function call(client: AnyClient, name: string, args: Record<string, unknown>, options: CallOptions = {}) {
  const request = { name, arguments: args };
  return client instanceof ClientV1 ? client.callTool(request, undefined, options) : client.callTool(request, options);
}

interface Transport {
  onmessage?: ((message: never, extra: never) => void) | undefined;
}

/** The progress and the answers that reach a client from now on, before the client reads them. */
function follow(transport: object): unknown[] {
  const arrived: unknown[] = [];
  const target = transport as Transport;
  const { onmessage } = target;
  target.onmessage = (message: { method?: string; params?: Record<string, unknown> }, extra: never) => {
    const { method, params = {} } = message;
    if (method === "notifications/progress") arrived.push([params["progress"], params["total"], params["message"]]);
    else if (method === undefined) arrived.push("answer");
    onmessage?.(message as never, extra);
  };
  return arrived;
}

/** A gateway in front of one server, and how a client gets there. */
async function open(way: Way): Promise<{ target: Target; backend: Scripted }> {
  const backend = await startScripted({ name: "one", tools: 2 });
  const config = { mcpServers: { one: { ...backend.entry, share: "session" } } };
  if (way === "stdio") {
    const folder = mkdtempSync(join(tmpdir(), "goblin-stdio-"));
    onDispose(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "goblin.json");
    writeFileSync(file, JSON.stringify(config));
    return { target: { command: process.execPath, args: [GOBLIN, "stdio", "--config", file] }, backend };
  }
  const goblin = await startGoblin(config);
  return { target: way === "/mcp" ? { url: goblin.url } : { sseUrl: goblin.sseUrl }, backend };
}

/** Over stdio a client is there before the servers are. */
function listed(client: AnyClient, name: string) {
  return until(async () => (await client.listTools()).tools.find((tool) => tool.name === name), {
    what: `tool ${name}`,
  });
}

const matrix = variants<[sdk: "v1" | "v2", way: "/mcp" | "/sse" | "stdio"]>(
  [
    ["v1", "/sse"],
    ["v1", "stdio"],
    ["v2", "/mcp"],
  ],
  [
    ["v1", "/mcp"],
    ["v2", "/sse"],
    ["v2", "stdio"],
  ],
);

describe.each(matrix)("an SDK %s client over %s", (sdk, way) => {
  test("connects, lists, calls, follows progress, cancels, sees errors and frees everything when it closes", async () => {
    const { target, backend } = await open(way);
    const { client, transport, close, errors } = await connectors[sdk](target);

    expect(client.getServerVersion()).toMatchObject({ name: "goblin" });
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      logging: {},
    });

    expect(await listed(client, "one_tool_2")).toMatchObject({ description: "Tool number 2 of one" });

    const answer = await call(client, "one_add", { a: 2, b: 40 });
    expect(answer).toMatchObject({ content: [{ type: "text", text: "42" }], structuredContent: { sum: 42 } });

    // An SDK client drops progress that it reads in one piece with the answer, as a busy machine
    // does. So its transport says what arrived, and the callback only makes it ask for progress.
    const arrived = follow(transport);
    await call(client, "one_progress", { steps: 3 }, { onprogress: () => {} });
    expect(arrived).toEqual([[1, 3, "step 1"], [2, 3, "step 2"], [3, 3, "step 3"], "answer"]);

    const abort = new AbortController();
    const cancelled = call(client, "one_sleep", { ms: 20_000 }, { signal: abort.signal }).catch(
      (error: unknown) => error,
    );
    await backend.waitFor((r) => r.dir === "in" && r.message?.params?.name === "sleep");
    abort.abort("enough");
    expect(await cancelled).toBeInstanceOf(Error);
    const seen = await backend.waitFor((r) => r.event === "aborted" && r["name"] === "sleep");
    const told = await backend.waitFor((r) => r.event === "cancelled");
    expect(told["requestId"]).toBe(seen["requestId"]);
    expect(told["running"]).toBe(true);

    const failed = call(client, "one_fail", { code: -32050, message: "on purpose", data: { why: "test" } });
    const error = await failed.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: -32050, data: { why: "test", serverId: "one" } });
    expect((error as Error).message).toContain("on purpose");

    const unknown = await call(client, "one_nothing", {}).catch((thrown: unknown) => thrown);
    expect(unknown).toMatchObject({ code: -32602, data: { code: "TOOL_NOT_FOUND" } });
    expect((unknown as Error).message).toContain("Tool not found: one_nothing");
    expect(await call(client, "one_tool_error", {})).toMatchObject({ isError: true, "x-result": 1 });

    const { structuredContent } = (await call(client, "one_whoami", {})) as { structuredContent: { pid: number } };
    if ("terminateSession" in transport) await (transport as { terminateSession(): Promise<void> }).terminateSession();
    await close();
    const freed = await backend.waitFor((r) => r.event === "exit" && r.pid === structuredContent.pid);
    expect(freed["code"]).toBe(0);
    expect(await backend.events("violation")).toEqual([]);
    // A cancelled request is not answered any more.
    expect(errors.filter(({ message }) => message.includes("unknown message ID"))).toEqual([]);
  });
});

test("progress carries the client's own token, whatever its type, and the server never sees it", async () => {
  const backend = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: backend.entry } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  for (const progressToken of ["my token", 7, "7", 0]) {
    const params = { name: "one_progress", arguments: { steps: 2 }, _meta: { progressToken, "x-kept": true } };
    const { messages } = await client.call("tools/call", params);
    expect(messages.slice(0, 2).map((message) => message.params)).toEqual([
      { progressToken, progress: 1, total: 2, message: "step 1", "x-progress": true },
      { progressToken, progress: 2, total: 2, message: "step 2", "x-progress": true },
    ]);
  }
  const calls = await backend.received("tools/call");
  const metas = calls.map((record) => record.message.params._meta);
  expect(metas.map((meta) => meta["x-kept"])).toEqual([true, true, true, true]);
  expect(new Set(metas.map((meta) => meta.progressToken)).size).toBe(4);
});

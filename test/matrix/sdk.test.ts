/**
 * The matrix's diagonal with real clients: both generations of the SDK, in every way that each can
 * connect, the program `goblin stdio` included, on servers of both eras at once.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import {
  connectV1,
  connectV2,
  disposeAll,
  type Handlers,
  type LogRecord,
  onDispose,
  type Scripted,
  startScripted,
  type Target,
  until,
} from "../fixtures/peers.ts";
import { variants } from "../fixtures/thorough.ts";

let servers: Record<string, Scripted>;
let mcpServers: Record<string, unknown>;
let goblin: RunningGoblin;

beforeAll(async () => {
  servers = {
    a: await startScripted({ transport: "stdio", name: "a", script: { answersCancelled: true } }),
    b: await startScripted({ transport: "http", name: "b" }),
    c: await startScripted({ transport: "http", era: "modern", name: "c" }),
    d: await startScripted({ transport: "stdio", era: "modern", name: "d", script: { answersCancelled: true } }),
  };
  mcpServers = Object.fromEntries(Object.entries(servers).map(([id, { entry }]) => [id, entry]));
  goblin = await startGoblin({ mcpServers });
});
afterAll(disposeAll);

const PROGRAM = fileURLToPath(new URL("../../bin/goblin.js", import.meta.url));

const handlers: Handlers = {
  elicitation: () => ({ action: "accept", content: { name: "Ada" } }),
  sampling: () => ({ model: "m", role: "assistant", content: { type: "text", text: "said" } }),
  roots: [{ uri: "file:///home", name: "home" }],
};
const said = {
  elicitation: { action: "accept", content: { name: "Ada" } },
  sampling: { model: "m", role: "assistant", content: { type: "text", text: "said" } },
  roots: { roots: [{ uri: "file:///home", name: "home" }] },
};

interface How {
  readonly sdk: "v1" | "v2";
  readonly way: "url" | "sseUrl" | "stdio";
  readonly era: "legacy" | "modern" | "auto";
}

const clients = variants<How>(
  [
    { sdk: "v1", way: "sseUrl", era: "legacy" },
    { sdk: "v1", way: "stdio", era: "legacy" },
    { sdk: "v2", way: "url", era: "legacy" },
    { sdk: "v2", way: "url", era: "modern" },
    { sdk: "v2", way: "stdio", era: "modern" },
  ],
  [
    { sdk: "v1", way: "url", era: "legacy" },
    { sdk: "v2", way: "stdio", era: "legacy" },
    { sdk: "v2", way: "url", era: "auto" },
  ],
);

test.each(clients)("SDK $sdk over $way, $era", async (how) => {
  const target = targetOf(how.way);
  const options = { ...target, ...handlers };
  const connected =
    how.sdk === "v1" ? { v1: await connectV1(options) } : { v2: await connectV2({ ...options, era: how.era }) };
  const { client, errors } = "v1" in connected ? connected.v1 : connected.v2;
  await until(async () => (await client.listTools()).tools.some((tool) => tool.name === "d_echo"), { everyMs: 100 });

  const use = async ([id, server]: [string, Scripted]) => {
    const call = async (tool: string, args: Record<string, unknown>, options = {}) => {
      const request = { name: `${id}_${tool}`, arguments: args };
      const { content } = await ("v1" in connected
        ? connected.v1.client.callTool(request, undefined, options)
        : connected.v2.client.callTool(request, options));
      return (content as { text: string }[])[0]!.text;
    };
    expect(JSON.parse(await call("echo", { text: id }))).toEqual({ text: id });
    const steps: number[] = [];
    await call(
      "progress",
      { steps: 3, ms: 150 },
      { onprogress: ({ progress }: { progress: number }) => void steps.push(progress) },
    );
    expect(steps).toEqual([1, 2, 3]);
    for (const kind of ["elicitation", "sampling", "roots"] as const) {
      expect(JSON.parse(await call("ask", { kind }))).toEqual(said[kind]);
    }
    await expect(call("fail", { code: -32077, message: "no" })).rejects.toMatchObject({ code: -32077 });
    const { contents } = await client.readResource({ uri: `${id}+text:///hello` });
    expect(contents[0]).toMatchObject({ uri: `${id}+text:///hello`, text: "hello 0" });
    const { messages } = await client.getPrompt({ name: `${id}_greet`, arguments: { name: "Ada" } });
    expect(messages[0]?.content).toEqual({ type: "text", text: "Greet Ada warmly" });
    const seen = (await server.log()).length;
    const later = (fits: (record: LogRecord) => unknown) =>
      until(async () => (await server.log()).slice(seen).find(fits), { what: `${fits}` });
    const abort = new AbortController();
    const slow = call("sleep", { ms: 20_000 }, { signal: abort.signal });
    slow.catch(() => {});
    await later((r) => r.message?.params?.name === "sleep");
    abort.abort();
    await expect(slow).rejects.toThrow();
    await later((r) => r.event === "aborted");
    // Without sessions two gateways may use the same id at one server, which takes them for one
    // client.
    const wrong = (await server.events("violation")).filter((r) => !/^request id/.test(r["what"]));
    expect(wrong).toEqual([]);
  };
  await Promise.all(Object.entries(servers).map(use));
  expect(errors.filter((error) => !/abort/i.test(String(error)))).toEqual([]);
});

function targetOf(way: "url" | "sseUrl" | "stdio"): Target {
  if (way !== "stdio") return { [way]: goblin[way] };
  const folder = mkdtempSync(join(tmpdir(), "goblin-"));
  onDispose(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "goblin.json");
  writeFileSync(file, JSON.stringify({ mcpServers }));
  return { command: process.execPath, args: [PROGRAM, "stdio", "--config", file] };
}

/** A gateway with the demo servers and a client that calls them, for pictures of the real thing. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

export const GOBLIN = new URL("../../bin/goblin.js", import.meta.url).pathname;
const CALLS = [
  ["clock_now", {}],
  ["notes_add", { title: "plan", text: "Ship it" }],
  ["clock_convert", { time: "2026-11-16T09:00:00Z", to: "Asia/Tokyo" }],
  ["notes_search", { text: "ship" }],
  ["lab_log", { message: "hello" }],
  ["lab_portrait", {}],
  ["lab_countdown", { from: 1 }],
  ["notes_search", {}],
  ["lab_fail", {}],
  ["clock_now", { timeZone: "Europe/Berlin" }],
  ["notes_search", { text: "plan" }],
];

export async function startDemo() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const state = mkdtempSync(join(tmpdir(), "goblin-picture-"));
  const gateway = spawn(process.execPath, [GOBLIN, "serve", "--port", String(port)], {
    cwd: "/",
    stdio: "ignore",
    env: { ...process.env, XDG_STATE_HOME: state },
  });
  const exited = new Promise((resolve) => gateway.once("exit", resolve));
  const client = new Client({ name: "claude-code", version: "2.1" });
  return {
    url,
    /** Makes calls as a client would: of all kinds, not all at once. */
    async calls(count) {
      await untilReady(url);
      if (!client.transport) await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
      for (let round = 0; round < count; round++) {
        const [name, args] = CALLS[(round * 7) % CALLS.length];
        await client.callTool({ name, arguments: args }).catch(() => {});
        await sleep(40 + ((round * 37) % 160));
      }
    },
    ready: () => untilReady(url),
    async end() {
      gateway.kill();
      await exited;
      rmSync(state, { recursive: true, force: true });
    },
  };
}

async function untilReady(url) {
  for (let i = 0; i < 100; i++) {
    const answer = await fetch(`${url}/ready`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(100);
  }
  throw new Error("the gateway did not start");
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

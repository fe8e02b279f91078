// @ts-check
// What is measured: Goblin, and what stands beside it. All have one shape: an address, a process,
// and how the name of a backend's tool reads through them. Goblin runs as a user has it: its own
// command, a config file, nothing switched off.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startNode } from "./children.js";

/** @typedef {import("node:child_process").ChildProcess} ChildProcess */
/**
 * @typedef {{ name: string, url: string, child: ChildProcess, tool(server: string, name: string):
 *   string, output(): string, stop(): Promise<void> }} Subject
 */
/**
 * @typedef {Record<string, { type: "http", url: string } | { command: string, args: string[] }>}
 *   Servers
 */
/** @typedef {{ servers: Servers, settings?: Record<string, unknown> }} Setup */

const READY_MS = 20_000;
const folder = mkdtempSync(join(tmpdir(), "goblin-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** @param {string} file */
export const here = (file) => fileURLToPath(new URL(file, import.meta.url));

/** A file of this run, gone when it ends. @param {string} name @param {string | Buffer} content */
export function writeTemporary(name, content) {
  files += 1;
  const path = join(folder, `${files}-${name}`);
  writeFileSync(path, content);
  return path;
}

/**
 * @param {Record<string, string | number>} options
 * @returns {{ command: string, args: string[] }}
 */
export const stdioServer = (options) => ({
  command: process.execPath,
  args: [here("backend-stdio.js"), ...Object.entries(options).flatMap(([key, value]) => [`--${key}`, String(value)])],
});

/** @param {string} url @returns {{ type: "http", url: string }} */
export const httpServer = (url) => ({ type: "http", url });

/** @param {string} url */
async function untilReady(url) {
  const ready = new URL("/ready", url);
  const deadline = Date.now() + READY_MS;
  let status = "no answer";
  while (Date.now() < deadline) {
    try {
      const answer = await fetch(ready);
      await answer.arrayBuffer();
      if (answer.ok) return;
      status = `HTTP ${answer.status}`;
    } catch (error) {
      status = String(error);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`/ready after ${READY_MS} ms: ${status}`);
}

/** @param {string} bin @param {Setup} setup @returns {Promise<Subject>} */
export async function startGoblin(bin, { servers, settings = {} }) {
  const config = writeTemporary("goblin.json", JSON.stringify({ mcpServers: servers, ...settings }));
  // Keys, journals and the like must not land in the user's own folders.
  const env = { XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder };
  const started = await startNode([bin, "serve", "--config", config, "--port", "0"], { env });
  try {
    await untilReady(started.url);
  } catch (error) {
    await started.stop();
    throw error;
  }
  return { name: "goblin", ...started, tool: (server, name) => `${server}_${name}` };
}

/**
 * A subject in front of a single backend.
 * @param {"proxy" | "glue"} name
 * @param {string} target
 * @returns {Promise<Subject>}
 */
export async function startBeside(name, target) {
  const started = await startNode([here(`${name}.js`), target]);
  return { name, ...started, tool: (_server, tool) => tool };
}

/** @param {Buffer} bytes @returns {Promise<Subject>} */
export async function startBuffer(bytes) {
  const started = await startNode([here("buffer-server.js"), writeTemporary("bytes", bytes)]);
  return { name: "buffer", ...started, tool: (_server, tool) => tool };
}

/** @returns {Promise<Subject>} */
export async function startBackends() {
  const started = await startNode([here("backend-http.js")]);
  return { name: "direct", ...started, tool: (_server, tool) => tool };
}

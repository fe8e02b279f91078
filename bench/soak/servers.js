// @ts-check
// The servers behind the gateways: every transport, both eras, connections that all clients share
// and connections of their own. Those with an address are started here and again when they end;
// programs are the gateways' to start.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { until } from "./wait.js";

const PROGRAM = fileURLToPath(new URL("./server/main.js", import.meta.url));

/** @typedef {"stdio" | "http" | "sse"} Wire */
/**
 * @typedef {{ name: string, wire: Wire, era: "legacy" | "modern", share: "all" | "session" }} Kind
 */
/**
 * @typedef {Kind & { telling: boolean, entry(generation: number): object, kill(): void, stop():
 *   void }} Server
 */

/** @type {readonly Kind[]} */
export const KINDS = [
  { name: "pipe", wire: "stdio", era: "legacy", share: "all" },
  { name: "own", wire: "stdio", era: "legacy", share: "session" },
  { name: "line", wire: "stdio", era: "modern", share: "all" },
  { name: "web", wire: "http", era: "legacy", share: "all" },
  { name: "now", wire: "http", era: "modern", share: "all" },
  { name: "old", wire: "sse", era: "legacy", share: "all" },
];

/**
 * Whether what the server says in a call can be told to be that call's: it comes on the call's own
 * stream, or on the client's own connection. Elsewhere a gateway has to leave it out when several
 * clients' calls are under way.
 * @param {Kind} kind
 */
const isTelling = ({ wire, share }) => wire === "http" || share === "session";

/**
 * @param {Kind} kind
 * @param {{ folder: string, hub: import("./hub.js").Hub }} place
 * @returns {Promise<Server>}
 */
export async function startServer(kind, { folder, hub }) {
  const { name, wire, era, share } = kind;
  const args = [PROGRAM, "--name", name, "--wire", wire, "--era", era, "--folder", folder, "--hub", String(hub.port)];
  const telling = isTelling(kind);
  if (wire === "stdio") {
    return {
      ...kind,
      telling,
      entry: (generation) => ({ command: process.execPath, args, share, env: { SOAK_GENERATION: String(generation) } }),
      kill: () => hub.tell(name, { exit: 1 }),
      stop() {},
    };
  }
  let port = 0;
  let stopped = false;
  /** @type {import("node:child_process").ChildProcess} */
  let child;
  const start = () => {
    if (stopped) return;
    child = spawn(process.execPath, [...args, "--port", String(port)], { stdio: "ignore" });
    child.once("exit", () => setTimeout(start, 200));
  };
  start();
  await until(() => hub.of(name)[0]?.port, 10_000);
  port = hub.of(name)[0]?.port ?? 0;
  if (port === 0) throw new Error(`The server ${name} did not start`);
  const url = `http://127.0.0.1:${port}/${wire === "sse" ? "sse" : "mcp"}`;
  return {
    ...kind,
    telling,
    entry: () => ({ type: wire, url, share }),
    kill: () => void child.kill("SIGKILL"),
    stop() {
      stopped = true;
      child.kill("SIGKILL");
    },
  };
}

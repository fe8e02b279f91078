// @ts-check
// The servers behind the gateway: scripted ones, over all transports, each with a script file by which faults are put into it.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../test/fixtures/scripted-server.js", import.meta.url));

/** @typedef {{ id: string, transport: string, entry(generation: number): object, script(value: object): void, kill(): void, stop(): void }} Backend */

/** @param {string} folder @param {string} id @param {"stdio" | "http" | "sse"} transport @returns {Promise<Backend>} */
export async function startBackend(folder, id, transport) {
  const file = join(folder, `${id}.json`);
  const script = (/** @type {object} */ value) => writeFileSync(file, JSON.stringify(value));
  script({});
  const args = [PROGRAM, "--transport", transport, "--name", id, "--script", `@${file}`];
  if (transport === "stdio") {
    return {
      id,
      transport,
      entry: (generation) => ({ command: process.execPath, args, env: { FIXTURE_GENERATION: String(generation) } }),
      script,
      // Nobody but the gateway knows the process; the fault list ends it by its `exit` tool.
      kill() {},
      stop() {},
    };
  }
  let url = "";
  let stopped = false;
  /** @type {import("node:child_process").ChildProcess} */
  let child;
  async function start() {
    child = spawn(process.execPath, [...args, "--tied", "--port", url === "" ? "0" : new URL(url).port], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    child.once("exit", () => {
      if (!stopped) setTimeout(start, 300);
    });
    for await (const line of createInterface({ input: /** @type {any} */ (child.stdout) })) {
      if (line.startsWith("listening ")) {
        url = line.slice("listening ".length);
        return;
      }
    }
  }
  await start();
  return {
    id,
    transport,
    entry: () => ({ type: transport, url }),
    script,
    kill: () => void child.kill("SIGKILL"),
    stop() {
      stopped = true;
      child.kill("SIGKILL");
    },
  };
}

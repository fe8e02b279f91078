// @ts-check
// The gateway under test, life after life at one address: started, asked to stop, killed. Knows
// when it was out, reads its log for errors, and can say what it holds: heap after a collection,
// descriptors, resident memory.

import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { pause } from "./wait.js";

export const BIN = fileURLToPath(new URL("../../bin/goblin.js", import.meta.url));
const COLLECT = new URL("./collect.js", import.meta.url).href;
const ERROR_LEVEL = 50;
/** A request that is sent while the gateway begins to stop may find its connection closed. */
const RACE_MS = 150;

/** @typedef {{ how: "SIGTERM" | "SIGKILL", from: number, to: number }} Outage */
/**
 * `name`: of one replica among others; `port`: instead of the config's.
 * @typedef {{ configFile: string, folder: string, imports: readonly string[], problems:
 *   import("./problems.js").Problems, name?: string, port?: number, env?: Record<string, string> }}
 *   GatewayOptions
 */
/** @typedef {ReturnType<typeof createGateway>} Gateway */

/** When one gateway was away, and what that excuses. */
export function createOutages() {
  /** @type {Outage[]} */
  const outages = [];
  return {
    /** @param {Outage["how"]} how */
    begin(how) {
      const outage = { how, from: performance.now(), to: Number.POSITIVE_INFINITY };
      outages.push(outage);
      return () => {
        outage.to = performance.now();
      };
    },
    /** @param {number} from @param {number} to */
    covers: (from, to) => outages.some((outage) => outage.from - RACE_MS <= to && outage.to + RACE_MS >= from),
    /**
     * Whether a call met a gateway that was asked to stop. If it ran, it has to be answered,
     * however late it came: a gateway that stops answers a request, or refuses it before it runs.
     * @param {number} from
     * @param {number} to
     */
    owes: (from, to) =>
      outages.some(({ how, from: at, to: back }) => how === "SIGTERM" && from < back && to > at) &&
      !outages.some(({ how, from: at, to: back }) => how === "SIGKILL" && at <= to && back >= from),
  };
}

/**
 * Errors in the log of a gateway.
 * @param {import("./problems.js").Problems} problems
 * @param {string} name
 */
export function logReader(problems, name) {
  let rest = "";
  return (/** @type {Buffer} */ chunk) => {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      let level = ERROR_LEVEL;
      let text = line;
      try {
        ({ level, msg: text } = JSON.parse(line));
      } catch {
        // Not a line of the log: whatever printed it did so by mistake.
      }
      if (level >= ERROR_LEVEL && line.trim() !== "" && !isOurs(text)) problems.add("log", `${name}: ${line}`);
    }
  };
}

/** Errors that the soak makes: edits of the config that are not valid. @param {string} text */
function isOurs(text) {
  return /config/i.test(text);
}

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** @param {GatewayOptions} options */
export function createGateway({ configFile, folder, imports, problems, name = "main", port, env: own = {} }) {
  const loaded = [COLLECT, ...imports].flatMap((file) => ["--import", file]);
  const args = ["--expose-gc", ...loaded, BIN, "serve", "--config", configFile];
  if (port !== undefined) args.push("--port", String(port));
  const outages = createOutages();
  /** @type {import("node:child_process").ChildProcess} */
  let child;
  /** @type {Promise<unknown>} */
  let exited = Promise.resolve();
  let lives = 0;
  let planned = false;

  const gateway = {
    name,
    outages,
    get pid() {
      return child.pid ?? 0;
    },
    get lives() {
      return lives;
    },
    async start() {
      lives++;
      planned = false;
      const env = { ...process.env, XDG_STATE_HOME: folder, ...own };
      const started = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
      child = started;
      started.stderr?.on("data", logReader(problems, name));
      exited = new Promise((resolve) => started.once("exit", (code, signal) => resolve(code ?? signal)));
      void exited.then((code) => {
        if (!planned) problems.add("ending", `the gateway ${name} ended by itself (${code})`);
      });
      await new Promise((resolve, reject) => {
        let output = "";
        started.stdout?.on("data", (chunk) => {
          output += chunk;
          if (/http:\/\/\S+\/mcp/.test(output)) resolve(undefined);
        });
        started.once("exit", () => reject(new Error(`the gateway did not start: ${output}`)));
      });
    },
    /** Ends this life. Answers how it ended. @param {Outage["how"]} how */
    async stop(how) {
      planned = true;
      child.kill(how);
      const code = await Promise.race([exited, pause(15_000).then(() => "no exit")]);
      if (how === "SIGTERM" && code !== 0)
        problems.add("ending", `the gateway ended with ${code} when it was asked to stop`);
      return code;
    },
    /** @param {Outage["how"]} how @param {() => Promise<unknown>} meanwhile */
    async restart(how, meanwhile) {
      const back = outages.begin(how);
      await gateway.stop(how);
      await meanwhile();
      await gateway.start();
      back();
    },
    /** @param {NodeJS.Signals} name */
    signal: (name) => void child.kill(name),
    kill() {
      planned = true;
      child?.kill("SIGKILL");
    },
    /** What it holds, after a collection. */
    async reading() {
      const told = new Promise((resolve) => child.once("message", resolve));
      child.kill("SIGUSR2");
      const heap = /** @type {any} */ (await Promise.race([told, pause(5000).then(() => ({ heap: Number.NaN }))])).heap;
      return { heap: Number(heap), descriptors: gateway.descriptors(), rss: gateway.rss() };
    },
    descriptors() {
      try {
        return readdirSync(`/proc/${child.pid}/fd`).length;
      } catch {
        return 0;
      }
    },
    rss() {
      try {
        return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
      } catch {
        return 0;
      }
    },
  };
  return gateway;
}

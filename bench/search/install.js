// Installs the pinned servers of servers.json, each in a folder of its own below os.tmpdir(), so
// that one that cannot be installed costs only itself. What is there is kept: a second run installs
// nothing. Install scripts of the packages never run. The whole takes at most `deadlineMs`; what
// was not ready by then is reported and is taken up by the next run.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NPM_FLAGS = [
  "install",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-package-lock",
  "--omit=dev",
  "--omit=optional",
  "--prefer-offline",
  "--loglevel=error",
];

export const cacheRoot = join(tmpdir(), "goblin-bench-search");

/** The folder of one server at one version. */
export const folderOf = (server) => join(cacheRoot, `${server.package.replace(/[^\w.-]+/g, "_")}@${server.version}`);

/** Resolves to `{ ready, failed: [{ server, reason }] }`, both in the order of `servers`. */
export async function installServers(servers, { deadlineMs, parallel = 4, log }) {
  const until = Date.now() + deadlineMs;
  const failures = new Map();
  const queue = servers.filter((server) => !existsSync(join(folderOf(server), "installed")));
  if (queue.length > 0) log(`installing ${queue.length} servers below ${cacheRoot}`);
  const worker = async () => {
    for (let server = queue.shift(); server !== undefined; server = queue.shift()) {
      const left = until - Date.now();
      const reason = left < 1_000 ? "out of time" : await install(server, left);
      if (reason !== undefined) failures.set(server.id, reason);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return {
    ready: servers.filter((server) => !failures.has(server.id)),
    failed: servers
      .filter((server) => failures.has(server.id))
      .map((server) => ({ server, reason: failures.get(server.id) })),
  };
}

async function install(server, timeoutMs) {
  const folder = folderOf(server);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "work"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const reason = await npm([...NPM_FLAGS, `${server.package}@${server.version}`], folder, timeoutMs);
  if (reason === undefined) writeFileSync(join(folder, "installed"), "");
  return reason;
}

function npm(args, cwd, timeoutMs) {
  return new Promise((resolve) => {
    // A group of its own, so that npm's children end with it when time is up.
    const child = spawn("npm", args, { cwd, stdio: ["ignore", "ignore", "pipe"], detached: true });
    let errors = "";
    let late = false;
    child.stderr.on("data", (chunk) => {
      errors = (errors + chunk).slice(0, 4_000);
    });
    const timer = setTimeout(() => {
      late = true;
      process.kill(-child.pid, "SIGKILL");
    }, timeoutMs);
    child.on("error", (error) => {
      clearTimeout(timer);
      resolve(error.message);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      if (code === 0) return resolve(undefined);
      const line = errors.split("\n").find((text) => text.includes("error") && !text.includes("error code"));
      resolve(late ? "out of time" : (line ?? `npm exit ${code}`).trim());
    });
  });
}

/** The script that starts the server: what its package names as its binary. */
export function entryOf(server) {
  const root = join(folderOf(server), "node_modules", server.package);
  const { bin, main } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const path = typeof bin === "string" ? bin : (bin?.[server.bin] ?? Object.values(bin ?? {})[0] ?? main);
  return join(root, path);
}

/**
 * Child processes of a run: each is a group of its own, so that its children end with it, and none
 * outlives this process.
 */
import { spawn } from "node:child_process";

const START_MS = 20_000;
const running = new Set();

process.on("exit", () => {
  for (const child of running) end(child);
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

function start(command, args, options) {
  const child = spawn(command, args, { detached: true, ...options });
  running.add(child);
  child.once("close", () => running.delete(child));
  return child;
}

function end(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** Starts a server and waits for the line that says where it listens. */
export async function startServer(args, env = {}) {
  const options = { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } };
  const child = start(process.execPath, args, options);
  let output = "";
  let timer;
  const url = await new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`${args.join(" ")}: ${why}\n${output}`));
    timer = setTimeout(() => fail("does not listen"), START_MS);
    const take = (chunk) => {
      output = (output + chunk).slice(-20_000);
      const found = /listening (?:on )?(http:\S+)/.exec(output);
      if (found) resolve(found[1]);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.once("error", (error) => fail(error.message));
    child.once("close", (code) => fail(`exit ${code}`));
  }).finally(() => clearTimeout(timer));
  return { url, output: () => output, stop: () => stopped(child) };
}

function stopped(child) {
  if (!running.has(child)) return Promise.resolve();
  const closed = new Promise((resolve) => child.once("close", resolve));
  end(child);
  return closed;
}

/** Runs a command to its end; `late` says that it was cut off. `took` gets what it prints. */
export function runToEnd(command, args, timeoutMs, took = () => {}) {
  const child = start(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let late = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output = (output + chunk).slice(-100_000);
      took(String(chunk));
    });
  }
  const timer = setTimeout(() => {
    late = true;
    end(child);
  }, timeoutMs);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, late, output }));
  }).finally(() => clearTimeout(timer));
}

// @ts-check
// Where the gateway is measured alone: compiled helpers, if there is a C compiler, and cores of
// their own, if the system can pin processes. Without them, Node programs stand in, and the core of
// the gateway may not be full; the table shows it.

import { execFile, spawn, spawnSync } from "node:child_process";
import { cpus } from "node:os";
import { promisify } from "node:util";
import { Client } from "../client.js";
import { forkGenerator } from "../generator.js";
import { startBackends, startBeside, startGoblin, stdioServer } from "../subjects.js";
import { usageOf } from "../usage.js";
import { answersFile, compileTools, requestsFile } from "./tools.js";

/** @typedef {import("../client.js").Era} Era */
/** @typedef {import("../subjects.js").Subject} Subject */
/** `url`: where the calls go, if not to the subject's own. */
/** @typedef {{ name: string, subject: Subject, tool: string, url?: string }} Path */
/**
 * `mainUs`: the main thread's part of `cpuUs`; NaN where the system does not tell.
 * @typedef {{ busy: number, perSecond: number, cpuUs: number, mainUs: number, p50: number, p99:
 *   number }} Sample
 */
/** @typedef {{ connections: number, ms: number }} Load */
/** @typedef {{ requests: number, ms: number, p50: number, p99: number }} Result */
/** @typedef {Awaited<ReturnType<typeof createNativeLab>>} NativeLab */

const run = promisify(execFile);
const PLACEHOLDER = "@".repeat(10);

/** @param {Era} era */
export async function createNativeLab(era) {
  const tools = compileTools();
  const canPin = cpus().length > 1 && spawnSync("taskset", ["-c", "0", "true"]).status === 0;
  const ours = "0";
  const theirs = String(cpus().length - 1);
  const generator = tools ? undefined : forkGenerator();
  const backend = tools ? await startBackend(tools.backend) : await startNodeBackend();
  /** @type {Subject[]} */
  const started = [];

  /** @param {string} program @param {string[]} args @returns {[string, string[]]} */
  function onOurCore(program, args) {
    return canPin ? ["taskset", ["-c", ours, program, ...args]] : [program, args];
  }

  /** @param {string} program */
  async function startBackend(program) {
    const child = spawn(...onOurCore(program, [answersFile(era)]), { stdio: ["pipe", "pipe", "inherit"] });
    const line = await new Promise((resolve) => child.stdout.once("data", (chunk) => resolve(String(chunk))));
    return { url: String(line).trim(), stop: () => child.kill() };
  }

  async function startNodeBackend() {
    const { url, stop } = await startBackends();
    return { url: `${url}?tag=core&era=${era}`, stop };
  }

  /** @param {Subject} subject */
  function keep(subject) {
    started.push(subject);
    if (canPin) spawnSync("taskset", ["-a", "-c", "-p", theirs, String(subject.child.pid)]);
    return subject;
  }

  /** @param {Path} path @param {Load} wanted @returns {Promise<Result>} */
  async function load(path, { connections, ms }) {
    if (!tools) return loadByNode(path, { connections, ms });
    const { name, subject, tool, url = subject.url } = path;
    const clients = await Promise.all(Array.from({ length: connections }, () => Client.open(url, era)));
    try {
      const file = requestsFile(clients.map((client) => requestOf(client, tool)));
      const port = new URL(url).port;
      const { stdout } = await run(...onOurCore(tools.generator, [port, file, String(ms)]));
      const result = JSON.parse(stdout);
      if (result.wrong > 0) throw new Error(`${name}: ${result.wrong} wrong, the first: ${result.firstWrong}`);
      return result;
    } finally {
      for (const client of clients) client.close();
    }
  }

  /** @param {Path} path @param {Load} wanted @returns {Promise<Result>} */
  async function loadByNode({ name, subject, tool, url = subject.url }, { connections, ms }) {
    if (!generator) throw new Error("there is no load generator");
    const job = { era, connections, ask: { kind: "echo", tool }, url, durationMs: ms };
    const prepared = await generator.prepare("load", job);
    const { requests, perSecond, p50, p99, wrong, firstWrong } = await prepared.start();
    await prepared.close();
    if (wrong > 0) throw new Error(`${name}: ${wrong} wrong, the first: ${firstWrong}`);
    return { requests, ms: (requests / perSecond) * 1000, p50, p99 };
  }

  return {
    note: `${tools ? "backend and load in C" : "no C compiler: backend and load are Node programs"}; ${
      canPin ? "the gateway is alone on its core" : "cores are shared"
    }`,

    /** @returns {Promise<Path>} */
    proxy: async () => ({ name: "proxy", subject: keep(await startBeside("proxy", backend.url)), tool: "echo" }),

    /**
     * @param {string} bin @param {Record<string, unknown>} [settings] @param {string} [share]
     * @returns {Promise<Path[]>}
     */
    async goblin(bin, settings = {}, share) {
      const program = tools ? { command: tools.backend, args: [answersFile(era), "--stdio"] } : stdioServer({ era });
      const stdio = share === undefined ? program : { ...program, share };
      const servers = { http: { type: /** @type {const} */ ("http"), url: backend.url }, stdio };
      const subject = keep(await startGoblin(bin, { servers, settings }));
      const name = bin.split("/").at(-3) ?? "goblin";
      return Object.keys(servers).map((server) => ({
        name: `${name}, ${server}`,
        subject,
        tool: subject.tool(server, "echo"),
      }));
    },

    /** @param {Path} path @param {Load} wanted @returns {Promise<Sample>} */
    async measure(path, wanted) {
      const { child } = path.subject;
      const before = await usageOf(child);
      const { requests, ms, p50, p99 } = await load(path, wanted);
      const after = await usageOf(child);
      const cpuUs = after.cpuUs - before.cpuUs;
      const mainUs = ((after.mainUs ?? NaN) - (before.mainUs ?? NaN)) / requests;
      const perSecond = (requests * 1000) / ms;
      return { busy: cpuUs / 1000 / ms, perSecond, cpuUs: cpuUs / requests, mainUs, p50, p99 };
    },

    async close() {
      generator?.stop();
      await Promise.all(started.map((subject) => subject.stop()));
      await backend.stop();
    },
  };
}

/** The bytes of a call, with places for its number. @param {Client} client @param {string} tool */
function requestOf(client, tool) {
  const params = `"name":"${tool}","arguments":{"text":"token-${PLACEHOLDER}"}`;
  // The length of the body is that of the number that will stand there.
  return client.request(1_234_567_890, "tools/call", params, tool).replace("1234567890", PLACEHOLDER);
}

// Asks one installed server for its tools over stdio, with a JSON-RPC client of its own so that the
// benchmark does not depend on the gateway. The child gets no environment but a path, a home folder
// of its own and the dummy values of servers.json; whatever happens it is gone when the promise
// settles.

import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { entryOf, folderOf } from "./install.js";

/**
 * Resolves to the tools of all pages as the server lists them; from the last run's answer where
 * there is one.
 */
export async function listTools(server, { timeoutMs, fresh = false }) {
  const remembered = join(folderOf(server), "tools.json");
  if (!fresh && existsSync(remembered)) return JSON.parse(readFileSync(remembered, "utf8"));
  const tools = await ask(server, timeoutMs);
  writeFileSync(remembered, JSON.stringify(tools));
  return tools;
}

function ask(server, timeoutMs) {
  return new Promise((resolve, reject) => {
    const work = join(folderOf(server), "work");
    const child = spawn(process.execPath, [entryOf(server), ...(server.args ?? [])], {
      cwd: work,
      env: { PATH: process.env.PATH, HOME: work, ...server.env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    const waiting = new Map();
    let nextId = 1;
    let noise = "";
    let done = false;

    const finish = (error, tools) => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
      if (error) reject(error);
      else resolve(tools);
    };
    const timer = setTimeout(() => finish(new Error(`no answer in ${timeoutMs} ms; ${lastLine(noise)}`)), timeoutMs);
    const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const request = (method, params) =>
      new Promise((answered) => {
        waiting.set(nextId, answered);
        send({ id: nextId++, method, params });
      });
    const receive = (line) => {
      const message = parse(line);
      if (message?.method !== undefined && message.id !== undefined) {
        if (message.method === "roots/list") send({ id: message.id, result: { roots: [] } });
        else if (message.method === "ping") send({ id: message.id, result: {} });
        else send({ id: message.id, error: { code: -32601, message: "not supported" } });
      } else if (waiting.has(message?.id)) {
        waiting.get(message.id)(message);
        waiting.delete(message.id);
      }
    };

    child.on("error", finish);
    child.stdin.on("error", () => {});
    child.on("close", (code) => finish(new Error(`exit ${code}; ${lastLine(noise)}`)));
    child.stderr.on("data", (chunk) => {
      noise = (noise + chunk).slice(-4_000);
    });
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop();
      lines.forEach(receive);
    });

    (async () => {
      const hello = await request("initialize", {
        protocolVersion: "2025-06-18",
        capabilities: { roots: {} },
        clientInfo: { name: "goblin-bench", version: "1" },
      });
      if (hello.error) throw new Error(hello.error.message);
      send({ method: "notifications/initialized" });
      const tools = [];
      let cursor;
      do {
        const page = await request("tools/list", cursor === undefined ? {} : { cursor });
        if (page.error) throw new Error(page.error.message);
        tools.push(...page.result.tools);
        cursor = page.result.nextCursor;
      } while (cursor !== undefined);
      finish(undefined, tools);
    })().catch(finish);
  });
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    // Some servers print greetings on stdout.
    return undefined;
  }
}

const lastLine = (text) => text.trim().split("\n").at(-1)?.slice(0, 160) ?? "";

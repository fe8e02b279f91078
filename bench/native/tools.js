// @ts-check
// The compiled helpers of the benchmark, where the machine has a C compiler: they cost so little
// that the gateway's core is full and theirs is not. Compiled once for each version of their
// source.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAnswers } from "../backend-answers.js";
import { here, writeTemporary } from "../subjects.js";

/** @typedef {{ backend: string, generator: string }} Tools */

const LEGACY_VERSION = "2025-11-25";
/** How each era begins; a server answers only its own. */
const FIRST = { legacy: "initialize", modern: "server/discover" };
const METHODS = [
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "ping",
  "logging/setLevel",
];

/** @returns {Tools | undefined} nothing without a compiler */
export function compileTools() {
  const backend = compile("backend");
  const generator = backend && compile("generator");
  return backend && generator ? { backend, generator } : undefined;
}

/** @param {string} name */
function compile(name) {
  const source = here(`native/${name}.c`);
  const digest = createHash("sha256").update(readFileSync(source)).digest("hex").slice(0, 16);
  const folder = join(tmpdir(), `goblin-bench-tools-${process.getuid?.() ?? 0}`);
  const path = join(folder, `${name}-${digest}`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const made = `${path}.${process.pid}`;
  if (spawnSync("cc", ["-O2", "-o", made, source], { stdio: "ignore" }).status !== 0) return undefined;
  renameSync(made, path);
  return path;
}

/**
 * The file of prepared answers of an era. No server announces changes, so no stream is open beside
 * the calls.
 * @param {import("../client.js").Era} era
 */
export function answersFile(era) {
  const { answer } = createAnswers({ era, tools: 20, resources: 5, tag: "native" }, () => {});
  const envelope = era === "modern" ? { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } } : {};
  const records = [FIRST[era], ...METHODS].map((method) => {
    const text = pieces({ id: 0, method, params: { protocolVersion: LEGACY_VERSION, ...envelope } });
    return `${method}\0${text.replace(/"capabilities":\{.*?\}\}/, `"capabilities":{"tools":{},"prompts":{},"resources":{}}`)}\0\0`;
  });
  const called = pieces({
    id: 0,
    method: "tools/call",
    params: { name: "echo", arguments: { text: "@" }, ...envelope },
  });
  records.push(`tools/call\0${called.replace("@", "\0")}\0`);
  return writeTemporary("answers", records.join(""));

  /** @param {any} message */
  function pieces(message) {
    return (answer(message) ?? []).join("").slice(`{"jsonrpc":"2.0","id":0`.length);
  }
}

/**
 * The file of prepared requests, one for each connection.
 * @param {readonly string[]} requests
 */
export function requestsFile(requests) {
  const parts = requests.flatMap((request) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(Buffer.byteLength(request));
    return [length, Buffer.from(request)];
  });
  return writeTemporary("requests", Buffer.concat(parts));
}

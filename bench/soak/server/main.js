// @ts-check
// A server of the soak: `node main.js --name NAME --wire stdio|http|sse --era legacy|modern
// --folder DIR --hub PORT [--port N]`.
//
// It keeps a book: one line for each tool call that it executes, and for each that goes on with the
// client's answers, written before anything else happens, so that neither a crash nor a second
// delivery can hide. Whatever it says belongs to a call and carries that call's nonce. It lives as
// long as the hub does.

import { appendFileSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { serveHttp } from "./http.js";
import { serveSse } from "./sse.js";
import { serveStdio } from "./stdio.js";

const text = /** @type {const} */ ({ type: "string" });
const { values } = parseArgs({ options: { name: text, wire: text, era: text, folder: text, hub: text, port: text } });
const { name = "", wire = "stdio", era = "legacy", folder = ".", hub = "0", port = "0" } = values;

/**
 * @typedef {{ initialized: boolean, updated(uri: string): void, listChanged(): void,
 *   closeStreams(): void, drop(): void, close(): void, receive(text: string, channel:
 *   import("./connection.js").Channel): Promise<unknown> }} Connection
 */
/**
 * @typedef {{ name: string, wire: string, modern: boolean, port: number, connections:
 *   Set<Connection>, tasks: Map<string, { nonce: string, done: boolean, at: string }>, book(nonce:
 *   string, tool: string, round?: string): void, version(uri: string): number, takeSpoil(): any }}
 *   World
 */

/** @type {any[]} */
const spoils = [];
/** @type {World} */
const world = {
  name,
  wire,
  modern: era === "modern",
  port: Number(port),
  connections: new Set(),
  tasks: new Map(),
  book(nonce, tool, round) {
    appendFileSync(join(folder, `${name}.book`), `${JSON.stringify({ nonce, tool, pid: process.pid, round })}\n`);
  },
  /** How often a resource has changed; the soak writes it. */
  version(uri) {
    try {
      return Number(readFileSync(join(folder, `${name}.${uri.replace(/\W+/g, "-")}`), "utf8"));
    } catch {
      return 0;
    }
  },
  /** The fault that the next call is to meet, if any. */
  takeSpoil() {
    const spoil = spoils.shift();
    if (spoil) tell({ used: spoil.id });
    return spoil;
  },
};

const socket = connect(Number(hub), "127.0.0.1");
socket.on("error", () => {});
socket.on("close", () => process.exit(0));
const tell = (/** @type {object} */ message) => socket.write(`${JSON.stringify(message)}\n`);
tell({ name, pid: process.pid });
let rest = "";
socket.setEncoding("utf8").on("data", (chunk) => {
  const lines = `${rest}${chunk}`.split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) order(JSON.parse(line));
});

/** @param {any} message */
function order({ changed, spoil, exit, closeStreams, dropSessions, garbage, lists }) {
  if (changed) for (const connection of world.connections) connection.updated(changed);
  if (spoil) spoils.push(spoil);
  if (exit !== undefined) process.exit(exit);
  if (closeStreams) for (const connection of world.connections) connection.closeStreams();
  if (dropSessions) for (const connection of [...world.connections]) connection.drop();
  if (garbage && wire === "stdio") process.stdout.write(garbage);
  if (lists) {
    for (let n = 0; n < lists; n++) for (const connection of world.connections) connection.listChanged();
  }
}

const serve = { stdio: serveStdio, http: serveHttp, sse: serveSse }[/** @type {"stdio" | "http" | "sse"} */ (wire)];
serve(world, tell);

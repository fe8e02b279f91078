// @ts-check
// An MCP client of either era on one connection: it writes the requests with the headers their era
// demands and finds the message in an answer, JSON or SSE-framed. Legacy opens a session first;
// modern has none and says who it is in every request.

import { Connection, header } from "./http-connection.js";

/** @typedef {"legacy" | "modern"} Era */
/** @typedef {import("./http-connection.js").Answer} Answer */

const LEGACY_VERSION = "2025-11-25";
const MODERN_VERSION = "2026-07-28";
const CLIENT_INFO = { name: "bench", version: "1.0.0" };
const ENVELOPE = JSON.stringify({
  "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
});
const DATA_LINE = Buffer.from("\ndata:");

export class Client {
  #head;
  #era;

  /** @param {Connection} connection @param {URL} url @param {Era} era */
  constructor(connection, url, era) {
    this.connection = connection;
    this.#era = era;
    // A token stands in the address, where its password would.
    const authorization = url.password === "" ? "" : `Authorization: Bearer ${decodeURIComponent(url.password)}\r\n`;
    this.#head = `${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n${authorization}Accept: application/json, text/event-stream\r\n`;
  }

  /**
   * Connects and, in the legacy era, opens a session. A port in place of the address's user is that
   * of another replica, where the session is opened.
   * @param {string} at
   * @param {Era} era
   * @returns {Promise<Client>}
   */
  static async open(at, era) {
    const url = new URL(at);
    if (url.username !== "") {
      const home = Object.assign(new URL(at), { port: url.username, username: "" });
      const first = await Client.open(home.href, era);
      return first.sibling(at).finally(() => first.close());
    }
    const client = new Client(await Connection.open(url), url, era);
    try {
      if (era === "legacy") await client.#initialize();
      else client.#head += `MCP-Protocol-Version: ${MODERN_VERSION}\r\n`;
    } catch (error) {
      client.close();
      throw error;
    }
    return client;
  }

  /** Another connection of the same session. @param {string} at @returns {Promise<Client>} */
  async sibling(at) {
    const url = new URL(at);
    const client = new Client(await Connection.open(url), url, this.#era);
    client.#head = this.#head;
    return client;
  }

  async #initialize() {
    const params = { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo: CLIENT_INFO };
    const text = this.write(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }));
    const answer = await this.connection.exchange(text);
    const message = parseAnswer(answer);
    if (message?.result === undefined) throw new Error(`initialize: ${complaint(answer)}`);
    const session = header(answer.head, "mcp-session-id");
    if (session !== undefined) this.#head += `Mcp-Session-Id: ${session}\r\n`;
    this.#head += `MCP-Protocol-Version: ${message.result.protocolVersion}\r\n`;
    await this.connection.exchange(this.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`));
  }

  /** The bytes of a POST. @param {string} body @param {string} [extra] Further header lines. */
  write(body, extra = "") {
    return `POST ${this.#head}${extra}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  }

  /**
   * The bytes of a request; `params` is the inside of an object, already serialised (`"name":"x"`).
   * @param {string | number} id
   * @param {string} method
   * @param {string} params
   * @param {string} [name] What `Mcp-Name` repeats.
   */
  request(id, method, params, name) {
    const head = `{"jsonrpc":"2.0","id":${typeof id === "number" ? id : `"${id}"`},"method":"${method}","params":{`;
    if (this.#era === "legacy") return this.write(`${head}${params}}}`);
    const extra = `Mcp-Method: ${method}\r\n${name === undefined ? "" : `Mcp-Name: ${name}\r\n`}`;
    return this.write(`${head}${params}${params === "" ? "" : ","}"_meta":${ENVELOPE}}}`, extra);
  }

  /**
   * Asks and returns the result; an error of any kind throws.
   * @param {string} method
   * @param {any} [params]
   * @param {string} [name]
   */
  async ask(method, params = {}, name = undefined) {
    const answer = await this.connection.exchange(this.request(1, method, JSON.stringify(params).slice(1, -1), name));
    const message = parseAnswer(answer);
    if (message?.result === undefined) throw new Error(`${method}: ${complaint(answer)}`);
    return message.result;
  }

  /** The bytes that open the stream of server messages. */
  openStream() {
    return `GET ${this.#head.replace("application/json, ", "")}\r\n`;
  }

  close() {
    this.connection.close();
  }
}

/**
 * The JSON bytes of an answer: its body, or the data of its last event.
 * @param {Answer} answer
 * @returns {Buffer}
 */
export function payload(answer) {
  if (!header(answer.head, "content-type")?.startsWith("text/event-stream")) return answer.body;
  // JSON holds no raw line feed, so that this can only be the start of a line.
  const from = answer.body.lastIndexOf(DATA_LINE) + DATA_LINE.length;
  if (from < DATA_LINE.length) return answer.body.subarray(answer.body.indexOf("data:") + 5);
  const to = answer.body.indexOf(10, from);
  return answer.body.subarray(from, to < 0 ? undefined : to);
}

/** @param {Answer} answer @returns {any} */
export function parseAnswer(answer) {
  if (answer.error !== undefined || answer.status !== 200) return undefined;
  try {
    return JSON.parse(payload(answer).toString());
  } catch {
    return undefined;
  }
}

/** What is wrong with an answer, short enough for a table's note. @param {Answer} answer */
export function complaint(answer) {
  if (answer.error !== undefined) return answer.error;
  return `HTTP ${answer.status} ${answer.body.toString("utf8", 0, 300).replaceAll(/\s+/g, " ")}`;
}

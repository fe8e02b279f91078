// @ts-check
// A keep-alive HTTP/1.1 connection over a plain socket, as cheap as it gets, so that the load
// generator is not what is measured. One request at a time; answers with content-length, chunked or
// up to the close; bodies whole or as a stream of pieces. Every request ends in exactly one call of
// its `done`, also when the socket dies.

import { connect } from "node:net";

/** @typedef {{ status: number, head: string, body: Buffer, error?: string }} Answer */
/** @typedef {(answer: Answer) => void} Done */
/** @typedef {"head" | "fixed" | "size" | "chunk" | "trailer" | "close"} State */

const EMPTY = Buffer.alloc(0);
const END_OF_HEAD = Buffer.from("\r\n\r\n");
const END_OF_LINE = Buffer.from("\r\n");

/** @param {string} head @param {string} name The header's name in lower case. */
export function header(head, name) {
  const lower = head.toLowerCase();
  const at = lower.indexOf(`\r\n${name}:`);
  if (at < 0) return undefined;
  const from = at + name.length + 3;
  const to = head.indexOf("\r\n", from);
  return head.slice(from, to < 0 ? undefined : to).trim();
}

export class Connection {
  /** @type {Done | undefined} */
  #done;
  /** @type {((piece: Buffer) => void) | undefined} */
  #onPiece;
  /** @type {State} */
  #state = "head";
  /** @type {Buffer} */
  #rest = EMPTY;
  /** @type {Buffer[]} */
  #pieces = [];
  #left = 0;
  #status = 0;
  #head = "";
  #socket;

  /** @param {import("node:net").Socket} socket */
  constructor(socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#push(chunk));
    socket.on("error", (error) => this.#end(error.message));
    socket.on("close", () => (this.#state === "close" ? this.#end() : this.#end("connection closed")));
  }

  /** @param {URL} url @returns {Promise<Connection>} */
  static open(url) {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: url.hostname, port: Number(url.port) });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new Connection(socket));
      });
    });
  }

  /**
   * @param {string} request Head and body; ASCII only, so that a character is a byte.
   * @param {Done} done
   * @param {(piece: Buffer) => void} [onPiece] Takes the body piece by piece instead of
   *   `answer.body`.
   */
  send(request, done, onPiece) {
    if (this.#done) throw new Error("a request is under way on this connection");
    this.#done = done;
    this.#onPiece = onPiece;
    if (this.#socket.destroyed) this.#end("connection closed");
    else this.#socket.write(request, "latin1");
  }

  /** @param {string} request @returns {Promise<Answer>} */
  exchange(request) {
    return new Promise((resolve) => this.send(request, resolve));
  }

  close() {
    this.#done = undefined;
    this.#socket.destroy();
  }

  /** @param {Buffer} chunk */
  #push(chunk) {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#step());
  }

  /** One step of the parser; false when it needs more bytes. @returns {boolean} */
  #step() {
    switch (this.#state) {
      case "head":
        return this.#readHead();
      case "fixed":
        return this.#readBody("done");
      case "chunk":
        return this.#readBody("size");
      case "size":
        return this.#readSize();
      case "trailer":
        return this.#readTrailer();
      case "close":
        this.#take(this.#rest.length);
        return false;
    }
  }

  #readHead() {
    const at = this.#rest.indexOf(END_OF_HEAD);
    if (at < 0) return false;
    const head = this.#rest.toString("latin1", 0, at);
    this.#rest = this.#rest.subarray(at + 4);
    const status = Number(head.slice(9, 12));
    if (status < 200) return true;
    this.#status = status;
    this.#head = head;
    const length = header(head, "content-length");
    if (length !== undefined) {
      this.#left = Number(length);
      this.#state = "fixed";
    } else if (header(head, "transfer-encoding")?.toLowerCase() === "chunked") {
      this.#state = "size";
    } else if (status === 204 || status === 304) {
      this.#left = 0;
      this.#state = "fixed";
    } else {
      this.#state = "close";
    }
    return true;
  }

  /** @param {"done" | "size"} next */
  #readBody(next) {
    this.#left -= this.#take(Math.min(this.#left, this.#rest.length));
    if (this.#left > 0) return false;
    if (next === "done") {
      this.#end();
      return false;
    }
    if (this.#rest.length < 2) return false;
    this.#rest = this.#rest.subarray(2);
    this.#state = "size";
    return true;
  }

  #readSize() {
    const at = this.#rest.indexOf(END_OF_LINE);
    if (at < 0) return false;
    this.#left = Number.parseInt(this.#rest.toString("latin1", 0, at), 16);
    this.#rest = this.#rest.subarray(at + 2);
    this.#state = this.#left === 0 ? "trailer" : "chunk";
    return true;
  }

  #readTrailer() {
    const at = this.#rest.indexOf(END_OF_LINE);
    if (at < 0) return false;
    this.#rest = this.#rest.subarray(at + 2);
    if (at === 0) this.#end();
    return at !== 0;
  }

  /** Moves bytes from the input to the body. @param {number} count */
  #take(count) {
    if (count === 0) return 0;
    const piece = this.#rest.subarray(0, count);
    this.#rest = count === this.#rest.length ? EMPTY : this.#rest.subarray(count);
    if (this.#onPiece) this.#onPiece(piece);
    else this.#pieces.push(piece);
    return count;
  }

  /** @param {string} [error] */
  #end(error) {
    const done = this.#done;
    if (!done) return;
    const pieces = this.#pieces;
    const body = pieces.length === 1 ? /** @type {Buffer} */ (pieces[0]) : Buffer.concat(pieces);
    const answer = { status: this.#status, head: this.#head, body };
    this.#done = undefined;
    this.#pieces = [];
    this.#state = "head";
    done(error === undefined ? answer : { ...answer, error });
  }
}

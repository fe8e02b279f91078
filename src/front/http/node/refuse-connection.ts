/**
 * Answers a connection whose request cannot be read: the headers are too large, the request never
 * completes, or it is not HTTP. Node would send a bare status line. This answer names the limit, so
 * that the client's user knows the fix.
 */
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { errorTable, GoblinError } from "../../../mcp/protocol/errors.ts";
import { answerText, failure } from "../../../mcp/protocol/json-rpc.ts";
import { limitExceeded, type OnLimit } from "../../../mcp/protocol/limit-exceeded.ts";
import { OpenConnections } from "./open-connections.ts";

export interface RefuseOptions {
  readonly headerBytes: number;
  readonly onLimit: OnLimit;
}

/** Handles the server's `clientError` event. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket, options: RefuseOptions): void {
  refuse(socket, refusalOf(error, options));
}

/** Handles a request that did not arrive within this time. */
export function refuseLate(socket: Socket, receiveMs: number): void {
  const message = `The request did not arrive in full within ${receiveMs} ms`;
  refuse(socket, new GoblinError("RECEIVE_TIMEOUT", message));
}

/**
 * Words in the middle of another answer would be taken for a part of it, and behind one for the
 * answer to the next request. So a pending answer is sent, and then the connection closes.
 */
function refuse(socket: Socket, reason: GoblinError): void {
  const pending = OpenConnections.pending(socket);
  if (pending && socket.writable) {
    socket.pause();
    // Otherwise its client would send another request on the connection.
    if (!pending.headersSent) pending.setHeader("connection", "close");
    // A small answer leaves at the end of this turn.
    setImmediate(() => closeAfter(pending, socket));
    return;
  }
  if (!socket.writable || OpenConnections.isAnswering(socket)) return void socket.destroy();
  const status = errorTable[reason.code].http;
  const body = answerText(null, failure(reason));
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
  socket.destroySoon();
}

/** A stream may never end. */
const MAX_ANSWER_MS = 5000;

function closeAfter(answer: ServerResponse, socket: Socket): void {
  const isSent = answer.closed || (answer.writableEnded && answer.socket !== null);
  if (isSent) return void socket.destroySoon();
  const timer = setTimeout(() => socket.destroy(), MAX_ANSWER_MS).unref();
  socket.once("close", () => clearTimeout(timer));
  answer.once("close", () => socket.destroySoon());
}

function refusalOf(error: NodeJS.ErrnoException, { headerBytes, onLimit }: RefuseOptions): GoblinError {
  if (error.code !== "HPE_HEADER_OVERFLOW") {
    return new GoblinError("INVALID_REQUEST", "Invalid request: it is not valid HTTP");
  }
  onLimit("headerBytes");
  const what = "the headers of the request are too large";
  const advice = "send fewer or shorter ones";
  return limitExceeded({ limit: "headerBytes", value: headerBytes, what, advice, code: "HEADERS_TOO_LARGE" });
}

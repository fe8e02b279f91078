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

export interface RefuseOptions {
  readonly headerBytes: number;
  readonly onLimit: OnLimit;
}

/** `_headerSent`: whether the head was written, not only made. */
interface Answering extends ServerResponse {
  readonly _headerSent?: boolean;
}

/** Handles the server's `clientError` event. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket, options: RefuseOptions): void {
  refuse(socket, refusalOf(error, options));
}

/** Handles a request that did not arrive within this time. */
export function refuseLate(socket: Socket, receiveMs: number): void {
  const message = `The request did not arrive in full within ${receiveMs} ms (timeouts.receiveMs)`;
  refuse(socket, new GoblinError("RECEIVE_TIMEOUT", message));
}

function refuse(socket: Socket, reason: GoblinError): void {
  const status = errorTable[reason.code].http;
  // Node keeps the answer under way here. Words in the middle of one would be taken for a part of
  // it.
  const underWay = (socket as Socket & { _httpMessage?: Answering | null })._httpMessage;
  if (socket.writable && underWay?.headersSent && !underWay._headerSent && !underWay.writableEnded) {
    // What follows a request in the same packet is not HTTP. Its answer leaves at the end of this
    // turn, in an immediate before this one.
    socket.pause();
    return void setImmediate(() => socket.destroySoon());
  }
  if (!socket.writable || underWay?.headersSent) return void socket.destroy();
  const body = answerText(null, failure(reason));
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
  socket.destroySoon();
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

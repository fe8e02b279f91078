/**
 * Answers a connection whose request cannot be read: the headers are too large, the request never
 * completes, or it is not HTTP. Node would send a bare status line. This answer names the limit, so
 * that the client's user knows the fix.
 */
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { GoblinError } from "../../protocol/errors.ts";
import { answerText, failure } from "../../protocol/json-rpc.ts";
import { limitExceeded, type OnLimit } from "../../protocol/limit-exceeded.ts";

export interface RefuseOptions {
  readonly headerBytes: number;
  readonly receiveMs: number;
  readonly onLimit: OnLimit;
}

/** Handles the server's `clientError` event. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket, options: RefuseOptions): void {
  const [status, reason] = verdict(error, options);
  // Node keeps the response in progress here. An error written in the middle of it would be read as
  // part of it.
  const underWay = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage;
  if (!socket.writable || underWay?.headersSent) return void socket.destroy();
  const body = answerText(null, failure(reason));
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
  socket.destroySoon();
}

function verdict(error: NodeJS.ErrnoException, options: RefuseOptions): [status: number, reason: GoblinError] {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW": {
      options.onLimit("headerBytes");
      const what = "the headers of the request are too large";
      const advice = "send fewer or shorter ones";
      return [431, limitExceeded({ limit: "headerBytes", value: options.headerBytes, what, advice })];
    }
    case "ERR_HTTP_REQUEST_TIMEOUT": {
      const message = `The request did not arrive in full within ${options.receiveMs} ms (timeouts.receiveMs)`;
      return [408, new GoblinError("TIMEOUT", message)];
    }
    default:
      return [400, new GoblinError("INVALID_REQUEST", "Invalid request: it is not valid HTTP")];
  }
}

/**
 * The last words on a connection whose request cannot be taken: headers that are too large, a
 * request that is not sent to the end, or something that is no HTTP. Node would say it with a bare
 * status line; this names the limit, so that whoever reads it knows what to do.
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

/** For the server's `clientError`. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket, options: RefuseOptions): void {
  const [status, reason] = verdict(error, options);
  // Node keeps the answer under way here. Words in the middle of one would be taken for a part of
  // it.
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
      return [400, new GoblinError("INVALID_REQUEST", "Invalid request: it is no valid HTTP")];
  }
}

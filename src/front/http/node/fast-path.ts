/**
 * Whether this Node's requests and responses can be used past their streams: bodies read as the
 * parser brings them (`DirectRequest`), and answers sent in one write (`endInOneWrite`). Both rely
 * on more than Node documents, so two requests on a connection in memory try them before the first
 * client connects. If the answers are not what Node's own way would send, everything goes that way.
 */
import { createServer, type IncomingMessage } from "node:http";
import { Duplex } from "node:stream";
import { withTimeout } from "../../../lib/timing/with-timeout.ts";
import { DirectRequest } from "./direct-request.ts";
import { endInOneWrite } from "./node-members.ts";

const TEST_MS = 2000;
const BODY = "{}";
const REQUEST = `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;
/** The date is the only part that differs. */
const ANSWER = /^HTTP\/1\.1 200 OK\r\ncontent-length: 2\r\nDate: [^\r]+\r\nConnection: keep-alive\r\n\r\n\{\}$/;

let isTested = false;
let isUsable = false;

/** False until a test has passed. */
export function hasFastPath(): boolean {
  return isUsable;
}

/** Tests it once; `again`: once more. */
export async function testFastPath(again = false): Promise<void> {
  if (isTested && !again) return;
  isTested = true;
  isUsable = false;
  isUsable = await withTimeout(answersTwice(), TEST_MS, false);
}

function answersTwice(): Promise<boolean> {
  return new Promise((resolve) => {
    let sent = "";
    let rounds = 0;
    const end = (result: boolean): void => {
      connection.destroy();
      resolve(result);
    };
    const connection = new Duplex({
      read() {},
      write(chunk, _encoding, done) {
        sent += chunk;
        done();
        if (!sent.endsWith(BODY)) return;
        if (!ANSWER.test(sent)) return end(false);
        if (++rounds === 2) return end(true);
        sent = "";
        // When Node is done with this answer.
        setImmediate(() => connection.push(REQUEST));
      },
    });
    connection.on("error", () => end(false));
    const server = createServer({ IncomingMessage: DirectRequest, keepAliveTimeout: 0 }, (request, response) => {
      const answer = (body: Buffer): void => {
        try {
          response.writeHead(200, ["content-length", String(body.length)]);
          endInOneWrite(response, body.toString(), "latin1");
        } catch {
          end(false);
        }
      };
      if (!readDirectly(request, answer)) end(false);
    });
    server.emit("connection", connection);
    connection.push(REQUEST);
  });
}

function readDirectly(request: IncomingMessage, done: (body: Buffer) => void): boolean {
  return request instanceof DirectRequest && request.readBody(done);
}

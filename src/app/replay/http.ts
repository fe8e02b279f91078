/**
 * Serves a replay over Streamable HTTP on this machine.
 *
 * Invariant: only this machine can reach it, and no web page can: requests for another host, or
 * with an origin, are refused.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readAll } from "node:stream/consumers";
import { isLoopback } from "../../lib/text/loopback.ts";
import type { Replay } from "./replay.ts";

const MAX_BYTES = 64 * 1024 * 1024;

/** Listens on loopback. Returns the server and its endpoint. */
export async function serveReplay(replay: Replay, port: number): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    answer(replay, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
}

async function answer(replay: Replay, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const host = URL.canParse(`http://${request.headers.host}`) ? new URL(`http://${request.headers.host}`).hostname : "";
  if (!isLoopback(host) || request.headers.origin !== undefined) return refuse(response, 403);
  if (new URL(request.url ?? "/", "http://x").pathname !== "/mcp") return refuse(response, 404);
  // It has nothing to say unasked, and no session to end.
  if (request.method !== "POST") return refuse(response, 405);
  if (Number(request.headers["content-length"] ?? 0) > MAX_BYTES) return refuse(response, 413);
  const messages = replay.receive(await readAll(request));
  if (messages.length === 0) return refuse(response, 202);
  if (messages.length === 1) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(messages[0]);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  // JSON may have line breaks between its values.
  response.end(messages.map((one) => `data: ${one.replace(/\r\n?|\n/g, "\ndata: ")}\n\n`).join(""));
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

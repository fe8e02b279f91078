/**
 * An address of this machine for the page alone, opened when the first link is made: for a gateway
 * that listens nowhere, because its client started it.
 *
 * Invariant: it serves nothing but the page, to nobody but this machine, under its own name only.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

export interface OwnAddress {
  readonly url: string;
  close(): void;
}

/** Nobody may keep a request open: there is one user. */
const REQUEST_MS = 30_000;
const MAX_CONNECTIONS = 50;

export async function openOwnAddress(serve: (request: Request) => Promise<Response>): Promise<OwnAddress> {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
  // The gateway ends with its client, whether or not a browser is still connected.
  server.unref();
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  server.on("request", (request, response) => {
    // Another name that leads here is not one that this gateway gave anybody.
    if (request.headers.host !== host || !request.url?.startsWith("/connect/")) return end(response, 404);
    answer(request, response, { url: `http://${host}${request.url}`, serve }).catch(() => end(response, 500));
  });
  return {
    url: `http://${host}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Asked {
  readonly url: string;
  readonly serve: (request: Request) => Promise<Response>;
}

async function answer(request: IncomingMessage, response: ServerResponse, { url, serve }: Asked): Promise<void> {
  const { method = "GET" } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  const body = method === "POST" ? { body: Readable.toWeb(request) as ReadableStream, duplex: "half" as const } : {};
  const answered = await serve(new Request(url, { method, headers, ...body }));
  const sent = Object.fromEntries(answered.headers);
  response.writeHead(answered.status, { ...sent, "set-cookie": answered.headers.getSetCookie(), connection: "close" });
  response.end(Buffer.from(await answered.arrayBuffer()));
}

function end(response: ServerResponse, status: number): void {
  if (!response.headersSent) response.writeHead(status, { connection: "close" });
  response.end();
}

/**
 * The listening socket. It closes gracefully, so that answers in flight still reach their clients.
 *
 * The server's timeouts cut off a client that sends its request too slowly or never completes it.
 * Until then, the client holds only its socket.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createListener, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { withTimeout } from "../../lib/timing/with-timeout.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import { refuseTunnel } from "../attach/attach.ts";
import type { Certificate } from "./certificate.ts";
import { DirectRequest } from "./node/direct-request.ts";
import { testFastPath } from "./node/fast-path.ts";
import { IDLE_MS, OpenConnections } from "./node/open-connections.ts";
import { refuseConnection, refuseLate } from "./node/refuse-connection.ts";

export interface HttpServerOptions {
  readonly serve: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** Serves requests for a tunnel. The default refuses them. */
  readonly attach?: (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly host: string;
  readonly port: number;
  /** Serves https if set. */
  readonly certificate?: Certificate | undefined;
  /** The maximum size of all headers of a request together. */
  readonly headerBytes: number;
  /** The timeout for a request to arrive in full. */
  readonly receiveMs: number;
  readonly onLimit: OnLimit;
  readonly log: Pick<Logger, "error">;
}

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /** Replaces the certificate for new connections. */
  renew(certificate: Certificate): void;
  /** Reports each new connection. */
  watchConnections(opened: (socket: Socket) => void): void;
  /** Accepts no more connections. Closes idle ones now, and the others when they become idle. */
  stopAccepting(): void;
  close(): Promise<void>;
}

const HEADERS_MS = 20_000;
/** The interval of checks for incomplete requests: a timeout may fire this much late. */
const CHECK_MS = 5000;
/** The time allowed for the last answers to be sent. */
const FLUSH_MS = 1000;
/** How often idle connections are closed while the server closes. */
const SWEEP_MS = 20;
/** As node:http and node:https set up the connections that they accept. */
const ACCEPTED = { allowHalfOpen: true, noDelay: true };
const ENCRYPTED = { allowHalfOpen: false, ALPNProtocols: ["http/1.1"] };

export async function listenHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { serve, attach = refuseTunnel, host, port, receiveMs, certificate } = options;
  await testFastPath();
  const connections = new OpenConnections(
    {
      headersMs: Math.min(HEADERS_MS, receiveMs),
      requestMs: receiveMs,
      idleMs: IDLE_MS,
      checkMs: Math.min(CHECK_MS, receiveMs),
    },
    (socket) => refuseLate(socket, receiveMs),
  );
  // It does not listen itself, so it has no list of connections of its own.
  const http = createServer({ IncomingMessage: DirectRequest, maxHeaderSize: options.headerBytes });
  // Nor a timer for each connection.
  http.keepAliveTimeout = 0;
  http.on("request", (incoming, outgoing) => {
    connections.began(incoming, outgoing);
    serve(incoming, outgoing);
  });
  // Node would queue "100 Continue" behind the head of the answer that waits for its turn.
  http.on("checkContinue", (incoming, outgoing) => {
    connections.began(incoming, outgoing);
    OpenConnections.inTurn(incoming.socket, outgoing, () => {
      if (outgoing.destroyed) return;
      outgoing.writeContinue();
      serve(incoming, outgoing);
    });
  });
  // Node answers it without a request event, but the connection has had a request.
  http.on("checkExpectation", (incoming, outgoing) => {
    connections.began(incoming, outgoing);
    outgoing.writeHead(417).end();
  });
  http.on("clientError", (error, socket) => refuseConnection(error, socket as Socket, options));
  http.on("connect", (incoming, socket, head) => {
    // Node no longer listens. A client that leaves is not an error.
    socket.on("error", () => socket.destroy());
    // Its answer must not overtake those to the requests before it.
    OpenConnections.afterPending(incoming.socket, () => {
      if (!socket.writable) return void socket.destroy();
      connections.release(incoming.socket);
      attach(incoming, socket, head);
    });
  });
  const opened = (socket: Socket): void => {
    connections.add(socket);
    http.emit("connection", socket);
  };
  const tls = certificate && (await import("node:tls"));
  const secure = tls?.createServer({ ...certificate, ...ACCEPTED, ...ENCRYPTED, handshakeTimeout: receiveMs }, opened);
  // Nothing can be said to such a client: an answer would wait for its handshake.
  secure?.on("tlsClientError", (_error, socket) => void socket.destroy());
  const server = secure ?? createListener(ACCEPTED, opened);
  // From before its handshake; the server ends one that takes too long.
  secure?.on("connection", (socket) => connections.addUnwatched(socket));
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error): void => {
      connections.close();
      reject(error);
    };
    server.once("error", fail);
    server.listen(port, host, () => {
      server.off("error", fail);
      resolve();
    });
  });
  server.on("error", (error) => options.log.error({ error: error.message }, "HTTP server"));
  const { port: actual } = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  let sweeper: NodeJS.Timeout | undefined;
  const stopAccepting = (): void => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    connections.closeIdle();
    sweeper ??= setInterval(() => connections.closeIdle(), SWEEP_MS);
  };

  return {
    url: `${secure ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${actual}/mcp`,
    port: actual,
    renew: (next) => secure?.setSecureContext(next),
    watchConnections: (opened) => void server.on("connection", opened),
    stopAccepting,
    async close() {
      stopAccepting();
      await withTimeout(closed!, FLUSH_MS, undefined);
      clearInterval(sweeper);
      connections.close();
      await closed;
    },
  };
}

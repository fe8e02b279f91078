/**
 * The address where a replica takes requests for its sessions from the other replicas.
 *
 * A request must name this very process as the owner. Otherwise it is refused before any of its
 * body is sent, so that the sender can still serve it. Only those that know the secret get here
 * (see `channel.ts`).
 */

import { chmodSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { ASKED_HEADER, connectTo, listeningTls, MOVED, NETWORK_HEADER, NOT_MINE, OWNER_HEADER } from "./channel.ts";

export interface HandedOver {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Where the request came from, as the first replica established it. */
  readonly network: string;
  /** On whose behalf another replica asks about this one. Absent in a client's request. */
  readonly asked?: string | undefined;
}

/** A question of another replica about this one. */
export interface ReplicaQuestion {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** On whose behalf it asks, as it established that. */
  readonly by: string;
}

export interface ListenerOptions {
  readonly secret: string;
  /** `host:port`, or `unix:` and a path. */
  readonly listen: string;
  readonly ownerId: string;
  /** Whether what the request is for was left to another replica. */
  readonly hasMoved: (incoming: IncomingMessage) => boolean;
  readonly serve: (request: HandedOver) => void;
  readonly headerBytes: number;
  readonly receiveMs: number;
}

export interface Listener {
  /** The address with its actual port. */
  readonly address: string;
  close(): void;
}

const HANDSHAKE_MS = 10_000;
/** The tags and addresses of a hand-over come on top of the client's headers. */
const OWN_HEADER_BYTES = 1024;
/** Longer than an agent keeps a connection: it must not be closed while a request is under way. */
const IDLE_MS = 120_000;

export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { secret, listen, ownerId, receiveMs } = options;
  const server = createServer({
    ...listeningTls(secret),
    handshakeTimeout: HANDSHAKE_MS,
    maxHeaderSize: options.headerBytes + OWN_HEADER_BYTES,
    requestTimeout: receiveMs,
    headersTimeout: Math.min(HANDSHAKE_MS, receiveMs),
    keepAliveTimeout: IDLE_MS,
  });
  // Every hand-over asks first, and sends its body only when it may.
  server.on("checkContinue", (incoming, outgoing) => {
    const isMine = incoming.headers[OWNER_HEADER] === ownerId;
    if (!isMine || options.hasMoved(incoming))
      return void outgoing.writeHead(isMine ? MOVED : NOT_MINE, { connection: "close" }).end();
    outgoing.writeContinue();
    // Asks only whether the owner is there.
    if (incoming.method === "HEAD") return void outgoing.writeHead(204).end();
    const { [NETWORK_HEADER]: network, [ASKED_HEADER]: asked } = incoming.headers;
    options.serve({ incoming, outgoing, network: oneOf(network) ?? "", asked: oneOf(asked) });
  });
  server.on("request", (_incoming, outgoing) => void outgoing.writeHead(NOT_MINE, { connection: "close" }).end());
  // A stranger without the key, or a broken connection, concerns nobody.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("clientError", (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(where(listen), () => {
      server.off("error", reject);
      resolve();
    });
  });
  if (listen.startsWith("unix:") && process.platform !== "win32") chmodSync(listen.slice("unix:".length), 0o600);
  const { port } = server.address() as AddressInfo;
  return {
    address: port === undefined ? listen : `${listen.slice(0, listen.lastIndexOf(":"))}:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function oneOf(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function where(listen: string): { path: string } | { host: string; port: number } {
  const to = connectTo(listen);
  return "socketPath" in to ? { path: to.socketPath } : to;
}

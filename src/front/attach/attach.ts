/**
 * Serves `goblin stdio --attach`: a client on stdin and stdout of another process, whose lines come
 * through a tunnel. It passes the guard like a request, and then has a channel of its own.
 *
 * Invariant: a pipe loses its channel as soon as its principal is no longer admitted.
 */
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { endpointOf } from "../../auth/access/endpoints.ts";
import { configKey } from "../../config/config-key.ts";
import { errorTable, GoblinError } from "../../mcp/protocol/errors.ts";
import type { Place, Principal } from "../../mcp/protocol/principal.ts";
import type { BodyBudget } from "../bodies/body-budget.ts";
import type { FrontContext } from "../context.ts";
import type { Denial, LiveGuards } from "../http/guard.ts";
import { type LineChannel, serveLines } from "../line-channel.ts";
import type { TrustedProxies } from "../trusted-proxies.ts";
import { ATTACH_CONFIG, ATTACH_ENDPOINT, ATTACH_TARGET, DRAINING, REFUSED } from "./tunnel-words.ts";

/** How long a pipe that leaves may take for the last messages. */
const FLUSH_MS = 1000;
/** Finds clients whose machine has gone. */
const KEEP_ALIVE_MS = 30_000;

export interface AttachOptions {
  readonly context: FrontContext;
  readonly guards: LiveGuards;
  readonly bodies: BodyBudget;
  readonly proxies: TrustedProxies;
  readonly configPath: string | undefined;
}

interface Refusal extends Pick<Denial, "message" | "challenge"> {
  readonly status: number;
}

export class AttachFront {
  readonly #options: AttachOptions;
  readonly #open = new Map<LineChannel, Principal>();
  #isDraining = false;

  constructor(options: AttachOptions) {
    this.#options = options;
  }

  connect(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    void this.#admit(incoming, socket as Socket, head).catch((error: unknown) => {
      const failed = error instanceof GoblinError ? error : new GoblinError("INTERNAL_ERROR", "Internal error");
      refuse(socket, { status: errorTable[failed.code].http, message: failed.message });
    });
  }

  /** Ends the channels of principals that are no longer admitted. */
  revoke(isValid: (principal: Principal) => boolean): void {
    for (const [channel, principal] of this.#open) if (!isValid(principal)) channel.close();
  }

  /** Requests are to go to the next gateway from now on. */
  drain(): void {
    this.#isDraining = true;
    for (const channel of this.#open.keys()) {
      channel.tell(DRAINING);
      channel.refuse();
    }
  }

  close(): void {
    this.#isDraining = true;
    this.revoke(() => false);
  }

  async #admit(incoming: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const { context, guards, proxies, configPath } = this.#options;
    if (incoming.url !== ATTACH_TARGET) return refuseTunnel(incoming, socket);
    const header = (name: string): string | undefined => incoming.headers[name]?.toString();
    const endpoint = endpointOf(`/mcp${header(ATTACH_ENDPOINT) ?? ""}`, "/mcp");
    const verdict = await guards.main.client({ method: "CONNECT", path: `/mcp${endpoint ?? ""}`, header });
    if (!verdict.ok) return refuse(socket, verdict);
    if (this.#isDraining) return refuse(socket, { status: 503, message: "The gateway is shutting down" });
    const { principal } = verdict;
    const placeNow = (): Place | undefined =>
      endpoint === undefined ? undefined : context.access.placeOf(endpoint, principal);
    const place = placeNow();
    if (!place)
      return refuse(socket, { status: 404, message: "There is no such profile or server, or the token is not for it" });
    const account = principal.id || proxies.networkOf(socket, { header });
    const slot = context.sessions.reserve(account);
    if (socket.destroyed) return slot();
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.write(`HTTP/1.1 200 Attached\r\n${ATTACH_CONFIG}: ${configKey(configPath)}\r\n\r\n`);
    const channel = serveLines(context, {
      input: socket,
      output: socket,
      principal,
      place,
      placeNow,
      account,
      slot,
      bodies: this.#options.bodies,
      refused: (id) => channel.tell(REFUSED + JSON.stringify(id)),
    });
    this.#open.set(channel, principal);
    if (head.length > 0) socket.unshift(head);
    await channel.closed;
    this.#open.delete(channel);
    socket.end();
    setTimeout(() => socket.destroy(), FLUSH_MS).unref();
  }
}

/** Answers a request for a tunnel that the gateway does not serve. */
export function refuseTunnel(_incoming: IncomingMessage, socket: Duplex): void {
  refuse(socket, { status: 405, message: "Goblin is not a proxy. The MCP endpoint is /mcp" });
}

function refuse(socket: Duplex, { status, message, challenge }: Refusal): void {
  const body = JSON.stringify({ error: { message } });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    ...(challenge === undefined ? [] : [`www-authenticate: ${challenge}`]),
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
  // Node has left the socket alone: with bytes that nobody reads, it would never be closed.
  socket.resume();
  setTimeout(() => socket.destroy(), FLUSH_MS).unref();
}

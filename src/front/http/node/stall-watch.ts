/**
 * Cuts off a client that reads nothing for some time: it must not keep an answer in memory forever.
 *
 * Node reports when a connection has been idle, and counts bytes that the client reads as activity.
 * But it notices the first byte read only when its timeout expires, and then waits for another
 * timeout. So this class sets short timeouts and counts consecutive ones. Of an encrypted
 * connection, Node does not notice it before all was read: what was sent is looked at here.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface Unread {
  /** How long the client may read nothing. */
  readonly ms: number;
  /** Runs when the client is cut off. */
  cut(): void;
}

const CHECKS = 6;

/** Node's own members: what an encrypted connection is carried by. */
interface Carried {
  readonly _handle?: {
    readonly _parent?: { readonly bytesWritten?: number; readonly writeQueueSize?: number };
  } | null;
}

export class StallWatch {
  readonly #response: ServerResponse;
  readonly #unread: Unread;
  readonly #everyMs: number;
  #isListening = false;
  #idle = 0;
  #lastAt = 0;
  #sent = 0;

  constructor(response: ServerResponse, unread: Unread) {
    this.#response = response;
    this.#unread = unread;
    this.#everyMs = Math.ceil(unread.ms / CHECKS);
  }

  start(): void {
    this.#idle = 0;
    if (!this.#isListening) this.#listen();
    this.#response.setTimeout(this.#everyMs);
  }

  stop(): void {
    this.#response.setTimeout(0);
  }

  #listen(): void {
    const { req } = this.#response;
    this.#isListening = true;
    this.#response.on("timeout", () => this.#wasIdle());
    // Before Node gives the connection to the next answer, which may have a watch of its own.
    this.#response.prependListener("finish", () => req.socket.setTimeout(0));
  }

  #wasIdle(): void {
    const now = performance.now();
    const sent = sentOn(this.#response.req.socket);
    // If the client read something, Node restarted the timeout, so it took at least twice as long.
    if (now - this.#lastAt > 1.9 * this.#everyMs || sent > this.#sent) this.#idle = 0;
    this.#lastAt = now;
    this.#sent = sent;
    this.#idle++;
    if (this.#idle < CHECKS) this.#response.setTimeout(this.#everyMs);
    else {
      this.#unread.cut();
      this.#response.destroy();
    }
  }
}

/** How many bytes of an encrypted connection the system has taken; 0 of any other. */
function sentOn(socket: Socket): number {
  const { bytesWritten = 0, writeQueueSize = 0 } = (socket as Carried)._handle?._parent ?? {};
  return bytesWritten - writeQueueSize;
}

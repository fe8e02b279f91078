/**
 * Cuts off a client that reads nothing for some time: it must not keep an answer in memory forever.
 *
 * Node reports when a connection has been idle. But it notices bytes that the client reads only
 * when its timeout expires, and of an encrypted connection not even then. So this class sets short
 * timeouts, and counts those without a byte sent in between.
 */
import type { ServerResponse } from "node:http";
import { sentBytes } from "./node-members.ts";

export interface UnreadLimit {
  /** How long the client may read nothing. */
  readonly ms: number;
  /** Runs when the client is cut off. */
  cut(): void;
}

const CHECKS = 6;

export class StallWatch {
  readonly #response: ServerResponse;
  readonly #unread: UnreadLimit;
  readonly #everyMs: number;
  #isListening = false;
  #idle = 0;
  #sent = 0;

  constructor(response: ServerResponse, unread: UnreadLimit) {
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
    const sent = sentBytes(this.#response.req.socket);
    if (sent > this.#sent) this.#idle = 0;
    this.#sent = sent;
    this.#idle++;
    if (this.#idle < CHECKS) this.#response.setTimeout(this.#everyMs);
    else {
      this.#unread.cut();
      this.#response.destroy();
    }
  }
}

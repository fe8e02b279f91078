/**
 * Cuts off a client that reads nothing for some time: it must not keep an answer in memory forever.
 *
 * Node reports when a connection has been idle, and counts bytes that the client reads as activity.
 * But it notices the first byte read only when its timeout expires, and then waits for another
 * timeout. So this class sets short timeouts and counts consecutive ones.
 */
import type { ServerResponse } from "node:http";

export interface Unread {
  /** How long the client may read nothing. */
  readonly ms: number;
  /** Runs when the client is cut off. */
  cut(): void;
}

const CHECKS = 6;

export class StallWatch {
  readonly #response: ServerResponse;
  readonly #unread: Unread;
  readonly #everyMs: number;
  #isListening = false;
  #idle = 0;
  #lastAt = 0;

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
    // If the client read something, Node restarted the timeout, so it took at least twice as long.
    if (now - this.#lastAt > 1.9 * this.#everyMs) this.#idle = 0;
    this.#lastAt = now;
    this.#idle++;
    if (this.#idle < CHECKS) this.#response.setTimeout(this.#everyMs);
    else {
      this.#unread.cut();
      this.#response.destroy();
    }
  }
}

/**
 * Cuts a client off that reads nothing of what it was sent for some time: it must not keep an
 * answer in memory for ever.
 *
 * Node tells when a connection has been idle for a time, and takes bytes that the client read for
 * activity. It notices the first of them only when the time is over, and waits once more. So it is
 * asked for short times, which are counted as long as they follow each other.
 */
import type { ServerResponse } from "node:http";

export interface Unread {
  /** How long nothing may be read. */
  readonly ms: number;
  /** The client was cut off. */
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
    if (!this.#isListening) this.#response.on("timeout", () => this.#wasIdle());
    this.#isListening = true;
    this.#response.setTimeout(this.#everyMs);
  }

  stop(): void {
    this.#response.setTimeout(0);
  }

  #wasIdle(): void {
    const now = performance.now();
    // When something was read, the time began anew at its end, and took at least twice as long.
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

/**
 * A stream of text on Node's ServerResponse. It is a class, as is all that a client has one of: of
 * each object that is written with an accessor in it, V8 makes a table of its own.
 */
import type { ServerResponse } from "node:http";
import type { RawStream } from "../exchange.ts";
import { StallWatch, type Unread } from "./stall-watch.ts";

export class NodeStream implements RawStream {
  readonly #response: ServerResponse;
  readonly #stalls: StallWatch;
  #isStuck = false;

  /** `drained` runs when the stream has room again. */
  constructor(response: ServerResponse, unread: Unread, drained: () => void) {
    this.#response = response;
    this.#stalls = new StallWatch(response, unread);
    response.on("drain", () => {
      this.#isStuck = false;
      this.#stalls.stop();
      drained();
    });
  }

  get isFull(): boolean {
    return this.#isStuck || this.#response.writableEnded || this.#response.destroyed;
  }

  write(text: string): void {
    this.#isStuck = !this.#response.write(text);
    if (this.#isStuck) this.#stalls.start();
  }

  end(): void {
    this.#response.end();
  }

  cut(): void {
    this.#response.destroy();
  }
}

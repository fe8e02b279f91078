/**
 * A stream of text on Node's ServerResponse. It is a class, as is all that a client has one of: of
 * each object that is written with an accessor in it, V8 makes a table of its own.
 */
import type { ServerResponse } from "node:http";
import type { RawStream, StreamEvents } from "../exchange.ts";
import { StallWatch, type UnreadLimit } from "./stall-watch.ts";

export class NodeStream implements RawStream {
  readonly #response: ServerResponse;
  readonly #unread: UnreadLimit;
  readonly #events: StreamEvents;
  /** Made when the client is first slow: most streams carry little. */
  #stalls: StallWatch | undefined;
  #isStuck = false;

  constructor(response: ServerResponse, unread: UnreadLimit, events: StreamEvents) {
    this.#response = response;
    this.#unread = unread;
    this.#events = events;
  }

  get isFull(): boolean {
    return this.#isStuck || this.#response.writableEnded || this.#response.destroyed;
  }

  write(text: string): void {
    this.#isStuck = !this.#response.write(text);
    if (!this.#isStuck) return;
    this.#stalls ??= this.#watch();
    this.#stalls.start();
  }

  end(): void {
    this.#response.end();
  }

  cut(): void {
    this.#response.destroy();
  }

  #watch(): StallWatch {
    const stalls = new StallWatch(this.#response, this.#unread);
    this.#response.on("drain", () => {
      this.#isStuck = false;
      stalls.stop();
      this.#events.drained();
    });
    return stalls;
  }
}

/**
 * Tells exchanges that their connection closed before their answer was complete. One listener
 * serves all exchanges of a connection: one for each would be almost 1 % of a small call.
 */
import type { Socket } from "node:net";

export interface Abortable {
  /** Called at most once. */
  aborted(): void;
}

const WATCH = Symbol("abort watch");
type Connection = Socket & { [WATCH]?: AbortWatch };

export class AbortWatch {
  /** Nearly always one: more only if a client does not wait for answers. */
  readonly #waiting: Abortable[] = [];

  private constructor(socket: Socket) {
    socket.on("close", () => {
      for (const exchange of this.#waiting.splice(0)) exchange.aborted();
    });
  }

  static of(connection: Connection): AbortWatch {
    connection[WATCH] ??= new AbortWatch(connection);
    return connection[WATCH];
  }

  /** How many exchanges wait for their answers. */
  get size(): number {
    return this.#waiting.length;
  }

  add(exchange: Abortable): void {
    this.#waiting.push(exchange);
  }

  /** The answer is complete. */
  remove(exchange: Abortable): void {
    const at = this.#waiting.indexOf(exchange);
    if (at !== -1) this.#waiting.splice(at, 1);
  }
}

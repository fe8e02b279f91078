/**
 * The write queue of a stdio server: one message per line, in order.
 *
 * A request that is cancelled before it is written leaves the queue. Nothing of it is kept for a
 * program that does not read.
 */
import { oneLine } from "../../lib/json/json-text.ts";

export class Outgoing {
  #lines: string[] = [];
  /** Request ids, parallel to `#lines`. */
  #ids: (number | undefined)[] = [];
  #size = 0;

  /** The number of queued characters. */
  get size(): number {
    return this.#size;
  }

  add(text: string, id: number | undefined): void {
    const line = oneLine(text);
    this.#lines.push(line);
    this.#ids.push(id);
    this.#size += line.length;
  }

  /** Removes a request. Returns false if it is not in the queue. */
  takeBack(id: number): boolean {
    const at = this.#ids.indexOf(id);
    if (at === -1) return false;
    this.#size -= this.#lines[at]!.length;
    this.#lines.splice(at, 1);
    this.#ids.splice(at, 1);
    return true;
  }

  /** Returns all queued lines as one text and empties the queue. */
  takeAll(): string {
    const all = this.#lines.length === 1 ? `${this.#lines[0]}\n` : `${this.#lines.join("\n")}\n`;
    this.clear();
    return all;
  }

  clear(): void {
    this.#lines = [];
    this.#ids = [];
    this.#size = 0;
  }
}

/**
 * The messages that wait to be written to a program: one line each, in order.
 *
 * A request that was cancelled before it was written is taken back, so that nothing of it is kept
 * for a program that does not read.
 */
import { oneLine } from "../protocol/json-text.ts";

export class Outgoing {
  #lines: string[] = [];
  /** The requests that the lines are, at the same places. */
  #ids: (number | undefined)[] = [];
  #size = 0;

  /** The characters that wait. */
  get size(): number {
    return this.#size;
  }

  add(text: string, id: number | undefined): void {
    const line = oneLine(text);
    this.#lines.push(line);
    this.#ids.push(id);
    this.#size += line.length;
  }

  /** False: it does not wait here any more. */
  takeBack(id: number): boolean {
    const at = this.#ids.indexOf(id);
    if (at === -1) return false;
    this.#size -= this.#lines[at]!.length;
    this.#lines.splice(at, 1);
    this.#ids.splice(at, 1);
    return true;
  }

  /** Everything that waits, as it is written; nothing waits any more. */
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

/**
 * The head of an answer that is JSON and has no headers of its own, as Node writes it. Once Node
 * has made one, the others of the same second differ only in their length, and are made from it.
 * Each listening address needs its own: the keep-alive timeout is part of the head.
 */

const LENGTH = "content-length: ";

export class PlainHead {
  #start = "";
  #end = "";
  /** Set until the end of the second, as Node's own is: asking for the time is dearer. */
  #timer: NodeJS.Timeout | undefined;

  /** Takes the head that Node made for a body of this length. */
  learn(head: string, length: number): void {
    const at = head.indexOf(`${LENGTH}${length}\r\n`);
    if (at === -1) return;
    this.#timer ??= setTimeout(() => this.#forget(), 1000 - (Date.now() % 1000)).unref();
    this.#start = head.slice(0, at + LENGTH.length);
    this.#end = head.slice(at + LENGTH.length + String(length).length);
  }

  /** Returns the head for a body of this length, or undefined if Node has to make one. */
  for(length: number): string | undefined {
    return this.#timer ? this.#start + length + this.#end : undefined;
  }

  #forget(): void {
    this.#timer = undefined;
  }
}

/**
 * Reads a server's large messages in slices, so that no message holds up other events.
 *
 * Invariant: messages of one stream keep their order. While a large one is being read, those behind
 * it wait; on a pipe that is every later message. A request whose answer stream carried a waiting
 * message is not failed when the stream ends, since the message may be its answer.
 */

import { inSlices } from "../../lib/timing/slices.ts";
import { type Frame, frameOf, LARGE_FRAME, readLargeFrame } from "../protocol/frame.ts";

/** Messages without a stream share the connection's order. */
const CONNECTION = -1;

interface Queue {
  length: number;
  last: Promise<void>;
}

export class LargeFrames {
  readonly #queues = new Map<number, Queue>();

  /** Whether messages of this stream wait, so that the next one must wait too. */
  isReading(stream: number | undefined): boolean {
    return this.#queues.size > 0 && this.#queues.has(stream ?? CONNECTION);
  }

  /** Resolves when every message that waits now was taken; undefined if none waits. */
  get settled(): Promise<unknown> | undefined {
    if (this.#queues.size === 0) return undefined;
    return Promise.all([...this.#queues.values()].map(({ last }) => last));
  }

  /** `take` gets the message later, and must not throw; undefined if it is not JSON. */
  read(bytes: Buffer, stream: number | undefined, take: (frame: Frame | undefined, bytes: Buffer) => void): void {
    const key = stream ?? CONNECTION;
    const queue = this.#queues.get(key) ?? { length: 0, last: Promise.resolve() };
    this.#queues.set(key, queue);
    queue.length++;
    const isLarge = bytes.length > LARGE_FRAME;
    // A small message may be in a buffer that is used again.
    const own = isLarge ? bytes : Buffer.from(bytes);
    queue.last = queue.last.then(async () => {
      const frame = isLarge ? await inSlices(readLargeFrame(own)).catch(() => undefined) : frameOf(own);
      if (--queue.length === 0) this.#queues.delete(key);
      take(frame, own);
    });
  }
}

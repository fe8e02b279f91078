/**
 * Reads a server's large messages in slices, so that no message holds up other events.
 *
 * Invariant: a request whose answer stream carried a large message is not failed when the stream
 * ends, as long as the message is being read: it may be the answer.
 */
import { type Frame, readLargeFrame } from "../protocol/frame.ts";
import { inSlices } from "../timing/slices.ts";

export class LargeFrames {
  readonly #streams = new Map<number, number>();

  /** Whether a message on the stream of this request is being read. */
  isReading(stream: number): boolean {
    return this.#streams.size > 0 && this.#streams.has(stream);
  }

  /** `take` gets the message later; undefined if it is not JSON. */
  read(bytes: Buffer, stream: number | undefined, take: (frame: Frame | undefined) => void): void {
    if (stream !== undefined) this.#streams.set(stream, (this.#streams.get(stream) ?? 0) + 1);
    const done = (frame: Frame | undefined): void => {
      if (stream !== undefined) this.#leave(stream);
      take(frame);
    };
    void inSlices(readLargeFrame(bytes)).then(done, () => done(undefined));
  }

  #leave(stream: number): void {
    const left = this.#streams.get(stream)! - 1;
    if (left > 0) this.#streams.set(stream, left);
    else this.#streams.delete(stream);
  }
}

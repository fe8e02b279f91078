/**
 * Streams of answered requests that their clients may still ask for: those that broke, for as long
 * as a client may take to come back.
 *
 * Nothing is kept that was surely delivered, and all together they keep a bounded amount: beyond it
 * the oldest go. The newest is kept whatever its size.
 */
import type { Outbox } from "../../outbound/outbox.ts";

const RESUME_MS = 60_000;
const MAX_BYTES = 32 * 1024 * 1024;

interface Kept {
  readonly bytes: number;
  readonly forget: () => void;
  readonly timer: NodeJS.Timeout;
}

export class KeptStreams {
  /** The oldest first. */
  readonly #kept = new Map<Outbox, Kept>();
  #bytes = 0;

  /** `forget` runs when nobody can ask for the stream any more. */
  keep(outbox: Outbox, forget: () => void): void {
    const timer = setTimeout(() => this.drop(outbox), RESUME_MS).unref();
    const { bytes } = outbox;
    this.#kept.set(outbox, { bytes, forget, timer });
    this.#bytes += bytes;
    if (this.#bytes > MAX_BYTES) this.#evict(outbox);
  }

  drop(outbox: Outbox): void {
    const kept = this.#kept.get(outbox);
    if (!kept) return;
    this.#kept.delete(outbox);
    this.#bytes -= kept.bytes;
    clearTimeout(kept.timer);
    kept.forget();
    outbox.end();
  }

  /** What an open stream is still to get is under its session's budget, and stays. */
  #evict(newest: Outbox): void {
    for (const outbox of this.#kept.keys()) {
      if (this.#bytes <= MAX_BYTES) return;
      if (outbox !== newest && !outbox.isWriting) this.drop(outbox);
    }
  }
}

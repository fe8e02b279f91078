/**
 * Broken streams of answered requests, kept for a while so that their clients can resume them.
 *
 * A stream that was delivered is never kept. The total size is bounded: beyond it, the oldest
 * streams are dropped. The newest is kept regardless of its size.
 */
import type { Outbox } from "../../mcp/outbound/outbox.ts";

const RESUME_MS = 60_000;
const MAX_BYTES = 32 * 1024 * 1024;

interface RetainedStream {
  readonly bytes: number;
  readonly forget: () => void;
  readonly timer: NodeJS.Timeout;
}

export class KeptStreams {
  /** Oldest first. */
  readonly #kept = new Map<Outbox, RetainedStream>();
  #bytes = 0;

  /** `forget` runs when the stream can no longer be resumed. */
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

  /** A stream that is still being written counts against its session's budget, so it stays. */
  #evict(newest: Outbox): void {
    for (const outbox of this.#kept.keys()) {
      if (this.#bytes <= MAX_BYTES) return;
      if (outbox !== newest && !outbox.isWriting) this.drop(outbox);
    }
  }
}

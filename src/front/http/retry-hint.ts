/**
 * What a stream says before it ends because the gateway does: in how many milliseconds its client
 * should open it again (`retry:` of server-sent events).
 *
 * Another replica is there at once; a gateway that restarts needs a moment. Each stream is told
 * another time, so that not all clients come back together.
 */
interface Range {
  readonly leastMs: number;
  readonly mostMs: number;
}

const ELSEWHERE: Range = { leastMs: 250, mostMs: 1000 };
const HERE: Range = { leastMs: 2000, mostMs: 3000 };

export class RetryHint {
  #range: Range | undefined;

  /** The gateway ends. `isElsewhere`: others serve its clients. */
  begin(isElsewhere: boolean): void {
    this.#range = isElsewhere ? ELSEWHERE : HERE;
  }

  /** Empty while the gateway runs: a stream that ends then has nothing to come back for. */
  get text(): string {
    if (!this.#range) return "";
    const { leastMs, mostMs } = this.#range;
    return `retry: ${Math.round(leastMs + Math.random() * (mostMs - leastMs))}\n\n`;
  }
}

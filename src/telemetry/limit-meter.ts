/**
 * How often each limit of the config struck: a number for the metrics, and now and then a line in
 * the log, since a client that is refused or cut is seldom the one who can raise the limit.
 */
import { type LimitName, limitNames, type OnLimit } from "../protocol/limit-exceeded.ts";
import { Throttle } from "../timing/throttle.ts";
import type { Logger } from "./logger.ts";

const LINE_EVERY_MS = 60_000;

interface LimitCounter {
  times: number;
  readonly lines: Throttle;
}

export class LimitMeter {
  readonly #struck: ReadonlyMap<LimitName, LimitCounter>;
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
    this.#struck = new Map(
      limitNames.map((limit) => [limit, { times: 0, lines: new Throttle({ burst: 1, everyMs: LINE_EVERY_MS }) }]),
    );
  }

  /** Bound, to be handed to whatever enforces a limit. */
  readonly onLimit: OnLimit = (limit) => {
    const struck = this.#struck.get(limit)!;
    struck.times++;
    const heldBack = struck.lines.pass();
    if (heldBack === undefined) return;
    this.#log.warn({ limit: `limits.${limit}`, ...(heldBack > 0 && { heldBack }) }, `limits.${limit} was exceeded`);
  };

  /** Every limit, also those that never struck, by its whole key. */
  *counts(): Generator<[key: string, times: number]> {
    for (const [limit, { times }] of this.#struck) yield [`limits.${limit}`, times];
  }
}

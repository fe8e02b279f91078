/**
 * Counts how often each limit was exceeded, for the metrics. It also logs a line at
 * intervals, because the affected client can rarely raise the limit itself.
 */

import { Throttle } from "../../lib/timing/throttle.ts";
import { type LimitName, limitNames, type OnLimit, shownLimit } from "../../mcp/protocol/limit-exceeded.ts";
import type { Logger } from "./logger.ts";

const LINE_EVERY_MS = 60_000;

interface LimitCounter {
  times: number;
  readonly lines: Throttle;
}

export class LimitMeter {
  readonly #counters: ReadonlyMap<LimitName, LimitCounter>;
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
    this.#counters = new Map(
      limitNames.map((limit) => [limit, { times: 0, lines: new Throttle({ burst: 1, everyMs: LINE_EVERY_MS }) }]),
    );
  }

  /** Bound to this meter, so that it can be passed to the parts that enforce limits. */
  readonly onLimit: OnLimit = (limit) => {
    const counter = this.#counters.get(limit)!;
    counter.times++;
    const heldBack = counter.lines.pass();
    if (heldBack === undefined) return;
    const name = shownLimit(limit);
    this.#log.warn({ limit: name, ...(heldBack > 0 && { heldBack }) }, `${name} was exceeded`);
  };

  /** Returns all limits by the name that is shown, including those that were never exceeded. */
  *counts(): Generator<[key: string, times: number]> {
    for (const [limit, { times }] of this.#counters) yield [shownLimit(limit), times];
  }
}

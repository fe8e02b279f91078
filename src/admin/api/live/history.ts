/**
 * The figures of the last two minutes, one for each second, so that a page that is opened has
 * something to draw.
 *
 * One timer reads counters that calls keep anyway, so a call costs nothing. It begins with the
 * first request to the API.
 */
import { Ring } from "../../../lib/structures/ring.ts";
import type { Activity } from "../../../observe/telemetry/activity.ts";
import type { Moment, TokenTotals } from "../schema.ts";

const SECOND_MS = 1000;
const KEPT = 120;

export interface HistoryOptions {
  readonly activity: Pick<Activity, "takeRecent">;
  readonly tokens: () => TokenTotals;
  /** Is told each second when it is over. */
  readonly onSecond: (second: Moment) => void;
}

export class History {
  readonly #options: HistoryOptions;
  readonly #seconds = new Ring<Moment>(KEPT);
  readonly #timer: NodeJS.Timeout;
  #newest: Moment;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#newest = { time: Date.now(), callsPerSecond: 0, errorsPerSecond: 0, p50Ms: null, p99Ms: null, tokens: NONE };
    this.#timer = setInterval(() => this.#take(), SECOND_MS).unref();
  }

  /** The last second that is over. */
  get newest(): Moment {
    return this.#newest;
  }

  /** Returns the seconds, oldest first. */
  seconds(): Moment[] {
    return this.#seconds.items();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #take(): void {
    const { activity, tokens, onSecond } = this.#options;
    const { calls, errors, p50Ms, p99Ms } = activity.takeRecent();
    const figures = { callsPerSecond: calls, errorsPerSecond: errors, p50Ms, p99Ms };
    this.#newest = { time: Date.now(), ...figures, tokens: tokens() };
    this.#seconds.push(this.#newest);
    onSecond(this.#newest);
  }
}

const NONE: TokenTotals = { all: 0, own: 0, listed: 0 };

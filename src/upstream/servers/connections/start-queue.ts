/**
 * Lets a few package runners start at a time: ten concurrent installs take longer than one after
 * the other, and share one cache.
 *
 * A place is held until the start has succeeded or failed, but not for long: a program that never
 * answers must not keep the others waiting.
 */

const AT_A_TIME = 3;
const MAX_HOLD_MS = 20_000;

export interface StartQueueOptions {
  readonly atATime?: number;
  readonly longestHoldMs?: number;
}

export class StartQueue {
  readonly #atATime: number;
  readonly #longestHoldMs: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor({ atATime = AT_A_TIME, longestHoldMs = MAX_HOLD_MS }: StartQueueOptions = {}) {
    this.#atATime = atATime;
    this.#longestHoldMs = longestHoldMs;
  }

  /** Whether the next one has to wait. */
  get isFull(): boolean {
    return this.#taken >= this.#atATime;
  }

  /** Resolves when there is a place, with the function that frees it, or when the signal aborts. */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.isFull) await this.#turn(signal);
    if (signal.aborted) return () => {};
    this.#taken++;
    let held = true;
    const leave = (): void => {
      if (!held) return;
      held = false;
      clearTimeout(timer);
      this.#taken--;
      this.#waiting.shift()?.();
    };
    const timer = setTimeout(leave, this.#longestHoldMs).unref();
    return leave;
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const onAbort = (): void => {
        const at = this.#waiting.indexOf(go);
        if (at !== -1) this.#waiting.splice(at, 1);
        resolve();
      };
      this.#waiting.push(go);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}

/**
 * A circuit breaker for one server. After several transport failures in a row it refuses calls for
 * a while, then lets one call through as a probe. Any answer from the server counts as a success,
 * even an error.
 */
export interface BreakerOptions {
  readonly failures: number;
  readonly openMs: number;
  readonly maxOpenMs: number;
  readonly now?: () => number;
}

export interface BreakerStanding {
  /** Calls are refused at once. */
  readonly open: boolean;
  /** Transport failures in a row. */
  readonly failures: number;
  readonly retryInMs: number;
}

export class Breaker {
  readonly #options: BreakerOptions;
  readonly #now: () => number;
  #failures = 0;
  #openUntil = 0;
  #openMs: number;
  #probing = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#openMs = options.openMs;
  }

  get isOpen(): boolean {
    return this.#openUntil > 0;
  }

  /** How it stands; asking changes nothing. */
  get standing(): BreakerStanding {
    const retryInMs = this.isOpen ? Math.max(0, this.#openUntil - this.#now()) : 0;
    return { open: this.isOpen, failures: this.#failures, retryInMs };
  }

  /** Returns the milliseconds until a call may be tried; 0 lets this call through. */
  retryAfterMs(): number {
    if (this.#openUntil === 0) return 0;
    const left = this.#openUntil - this.#now();
    if (left > 0) return left;
    if (this.#probing) return this.#openMs;
    this.#probing = true;
    return 0;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openUntil = 0;
    this.#openMs = this.#options.openMs;
    this.#probing = false;
  }

  /** The call ended without evidence about the server's health. */
  abandoned(): void {
    this.#probing = false;
  }

  failed(): void {
    this.#failures++;
    if (this.#openUntil > 0 && this.#probing) this.#openMs = Math.min(this.#openMs * 2, this.#options.maxOpenMs);
    this.#probing = false;
    if (this.#failures >= this.#options.failures) this.#openUntil = this.#now() + this.#openMs;
  }
}

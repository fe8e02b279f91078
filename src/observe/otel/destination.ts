/**
 * The address that one kind of data goes to. It may be slow, wrong or gone.
 *
 * Invariant: every request ends, by its timeout or with the exporter, and none outlives that.
 */
import type { Signal } from "./signal.ts";

export const TOO_LARGE = 413;

export interface DestinationOptions {
  readonly signal: Signal;
  /** Told once when sending begins to fail, and once when it works again. */
  readonly onState: (problem: string | undefined) => void;
}

export class Destination {
  readonly #options: DestinationOptions;
  readonly #underWay = new Set<AbortController>();
  #problem: string | undefined;
  #isClosed = false;

  constructor(options: DestinationOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves to the status of the answer; 0: there is none. Never rejects. */
  async post(body: object): Promise<number> {
    if (this.#isClosed) return 0;
    const { url, headers, timeoutMs } = this.#options.signal;
    const abort = new AbortController();
    const late = setTimeout(() => abort.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs).unref();
    this.#underWay.add(abort);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: abort.signal,
        redirect: "error",
      });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      this.report(cause instanceof Error ? cause.message : String(cause));
      return 0;
    } finally {
      clearTimeout(late);
      this.#underWay.delete(abort);
    }
  }

  /** Undefined: data was taken. */
  report(problem: string | undefined): void {
    if (this.#isClosed || (problem === undefined) === (this.#problem === undefined)) return;
    this.#problem = problem;
    this.#options.onState(problem);
  }

  /** Gives up what is under way. */
  close(): void {
    this.#isClosed = true;
    for (const abort of this.#underWay) abort.abort();
  }
}

export function isTaken(status: number): boolean {
  return status >= 200 && status < 300;
}

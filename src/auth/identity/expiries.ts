/**
 * The latest end of each principal's credentials. A stream outlives the request that opened it, so
 * it must end when its principal has no valid credential any more; a renewed token extends it.
 */
import type { Principal } from "../../mcp/protocol/principal.ts";

/** Ends that are close together are handled together. */
const MIN_MS = 500;
const MAX_MS = 3_600_000;

export class Expiries {
  readonly #ends = new Map<string, number>();
  readonly #passed: (isLive: (principal: Principal) => boolean) => void;
  #timer: NodeJS.Timeout | undefined;
  #planned = Number.POSITIVE_INFINITY;

  /** `passed` is called soon after a credential has ended that was not renewed. */
  constructor(passed: (isLive: (principal: Principal) => boolean) => void) {
    this.#passed = passed;
  }

  note({ id, expiresAt }: Principal): void {
    if (expiresAt === Number.POSITIVE_INFINITY || expiresAt <= (this.#ends.get(id) ?? 0)) return;
    this.#ends.set(id, expiresAt);
    if (expiresAt < this.#planned) this.#plan(expiresAt);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#ends.clear();
  }

  #plan(end: number): void {
    clearTimeout(this.#timer);
    this.#planned = end;
    const ms = Math.min(Math.max(end - Date.now(), MIN_MS), MAX_MS);
    this.#timer = setTimeout(() => this.#sweep(), ms).unref();
  }

  #sweep(): void {
    this.#planned = Number.POSITIVE_INFINITY;
    const now = Date.now();
    this.#passed(({ id, expiresAt }) => Math.max(expiresAt, this.#ends.get(id) ?? 0) > now);
    let next = Number.POSITIVE_INFINITY;
    for (const [id, end] of this.#ends) {
      if (end <= now) this.#ends.delete(id);
      else if (end < next) next = end;
    }
    if (next < Number.POSITIVE_INFINITY) this.#plan(next);
  }
}

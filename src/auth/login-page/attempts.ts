/**
 * Logins that were begun on the page and wait for the redirect of the browser.
 *
 * An attempt ends once, in the browser that began it, and not later than its time. Nobody can fill
 * the memory with attempts, or push out those of others. Each principal has a few, in all its
 * browsers; past the bound for all, the principal with the most loses its oldest.
 */
import type { LoginAttempt } from "../login/attempt.ts";

export interface Begun {
  readonly attempt: LoginAttempt;
  readonly serverId: string;
  /** The browser that began it. */
  readonly visitId: string;
  /** The id of the principal that it is for. */
  readonly principal: string;
  /** The sealed link of the page to go back to. */
  readonly link: string;
}

const LIFE_MS = 10 * 60_000;
const MAX_ATTEMPTS = 500;
const MAX_PER_PRINCIPAL = 10;

export class Attempts {
  readonly #begun = new Map<string, Begun & { readonly expiresAt: number }>();

  add(begun: Begun): void {
    const own = this.#statesOf(begun.principal);
    if (own.length >= MAX_PER_PRINCIPAL) this.#begun.delete(own[0]!);
    else if (this.#begun.size >= MAX_ATTEMPTS) this.#begun.delete(this.#statesOf(this.#busiest())[0]!);
    this.#begun.set(begun.attempt.state, { ...begun, expiresAt: Date.now() + LIFE_MS });
  }

  /** Oldest first. */
  #statesOf(principal: string): string[] {
    return [...this.#begun].filter(([, begun]) => begun.principal === principal).map(([state]) => state);
  }

  #busiest(): string {
    const counts = new Map<string, number>();
    for (const { principal } of this.#begun.values()) counts.set(principal, (counts.get(principal) ?? 0) + 1);
    return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
  }

  /** Returns the attempt of this state and browser, once. Another browser does not end it. */
  take(state: string, visitId: string): Begun | undefined {
    const found = this.#begun.get(state);
    if (!found || found.visitId !== visitId) return undefined;
    this.#begun.delete(state);
    return found.expiresAt < Date.now() ? undefined : found;
  }
}

/**
 * Logins that were begun on the page and wait for the redirect of the browser.
 *
 * An attempt ends once, in the browser that began it, and not later than its time. Nobody can fill
 * the memory with attempts: each browser has a few, and there is a bound for all.
 */
import type { LoginAttempt } from "../login/attempt.ts";

export interface Begun {
  readonly attempt: LoginAttempt;
  readonly serverId: string;
  /** The browser that began it. */
  readonly visitId: string;
  /** The sealed link of the page to go back to. */
  readonly link: string;
}

const LIFE_MS = 10 * 60_000;
const MOST = 500;
const MOST_PER_VISIT = 10;

export class Attempts {
  readonly #begun = new Map<string, Begun & { readonly expiresAt: number }>();

  add(begun: Begun): void {
    const own = [...this.#begun].filter(([, { visitId }]) => visitId === begun.visitId);
    if (own.length >= MOST_PER_VISIT) this.#begun.delete(own[0]![0]);
    if (this.#begun.size >= MOST) this.#begun.delete(this.#begun.keys().next().value!);
    this.#begun.set(begun.attempt.state, { ...begun, expiresAt: Date.now() + LIFE_MS });
  }

  /** Returns the attempt of this state and browser, once. Another browser does not end it. */
  take(state: string, visitId: string): Begun | undefined {
    const found = this.#begun.get(state);
    if (!found || found.visitId !== visitId) return undefined;
    this.#begun.delete(state);
    return found.expiresAt < Date.now() ? undefined : found;
  }
}

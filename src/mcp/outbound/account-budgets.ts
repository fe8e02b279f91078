/**
 * The budgets of unread bytes of clients without a session: one for each account, over all its
 * streams and answers.
 *
 * Invariant: an account without an open stream or answer takes no memory.
 */
import { UnreadBudget, type UnreadLimit } from "./unread-budget.ts";

export class AccountBudgets {
  readonly #limit: UnreadLimit;
  readonly #accounts = new Map<string, { readonly budget: UnreadBudget; users: number }>();

  constructor(limit: UnreadLimit) {
    this.#limit = limit;
  }

  /** Returns the account's budget. Call `leave` once, when nothing is sent on it any more. */
  enter(account: string): { readonly budget: UnreadBudget; readonly leave: () => void } {
    const entry = this.#accounts.get(account) ?? { budget: UnreadBudget.of(this.#limit), users: 0 };
    this.#accounts.set(account, entry);
    entry.users++;
    const leave = (): void => {
      if (--entry.users === 0) this.#accounts.delete(account);
    };
    return { budget: entry.budget, leave };
  }
}

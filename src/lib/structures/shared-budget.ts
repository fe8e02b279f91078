/**
 * A limit that several gateways share: each has a part of it, and the parts move to where they are
 * needed. A part is good until the next one is given, so that nobody asks others on the way of a
 * call.
 */
export interface SharedBudget {
  /** Equal names at two gateways are one budget. */
  readonly name: string;
  readonly limit: number;
  /** How much of it this gateway could use now. */
  readonly demand: number;
  /** How much of it is in use, and cannot be given to others. */
  readonly inUse: number;
  /** Whether it is counted in whole numbers. */
  readonly isWhole: boolean;
  /** Sets the part of this gateway. */
  grant(part: number): void;
}

export interface BudgetUser {
  budgets(): readonly SharedBudget[];
  /** Without word from the others, each of the gateways has an equal part. */
  split(gateways: number): void;
}

/** The equal part of a limit; never nothing, however many gateways there are. */
export function equalPart(limit: number, gateways: number): number {
  return Math.max(1, Math.floor(limit / gateways));
}

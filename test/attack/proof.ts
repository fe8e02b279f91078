/** How the table of defects is written down. */
export interface Proof {
  readonly file: string;
  readonly title: string;
  /** One row of a `test.each`. */
  readonly of?: string;
}

export interface Defect {
  readonly id: string;
  readonly what: string;
  readonly tests: readonly Proof[];
}

export const proofs = (file: string, titles: readonly string[]): Proof[] => titles.map((title) => ({ file, title }));

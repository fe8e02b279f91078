/** One difference between an approved definition and the current one, and its class. */

/**
 * From the least to the most serious. Cosmetic: there is nothing else to read. Wording: a model or
 * a person reads something else, or must give other values. Narrowing: something is left out, and
 * that is all. Widening: more is possible, it is trusted more, or nobody can tell. Suspicious: the
 * scanner found an attack in it.
 */
export const driftClasses = ["cosmetic", "wording", "narrowing", "widening", "suspicious"] as const;
export type DriftClass = (typeof driftClasses)[number];

export interface Change {
  readonly class: DriftClass;
  /** Where in the definition, with dots. */
  readonly path: string;
  /** What is different, as a sentence about it: `"force" was added`. */
  readonly what: string;
  /** The approved form promises less harm than the current one. */
  readonly raises?: boolean | undefined;
  /** Results may no longer fit the approved output schema. */
  readonly changesOutput?: boolean | undefined;
}

export function worst(changes: readonly { readonly class: DriftClass }[]): DriftClass {
  const ranks = changes.map((change) => driftClasses.indexOf(change.class));
  return driftClasses[Math.max(0, ...ranks)]!;
}

/** A value in a message, short. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

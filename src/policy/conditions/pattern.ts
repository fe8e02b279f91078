/**
 * Regular expressions for `matches`, by RE2: the time of a match grows with the length of the text
 * times the size of the pattern, whatever the text is.
 *
 * Invariant: both factors are paid for before a match begins, and a pattern that a client wrote is
 * paid for before it is compiled. A client writes the text, and may write the pattern.
 */
import { RE2JS, RE2JSException, RE2JSSyntaxException } from "re2js";
import type { Budget } from "./work.ts";

/** In instructions. */
const MAX_SIZE = 2000;
/** RE2 allows no larger count, and no larger product of nested counts. */
const MAX_COUNT = 1000;

export class Pattern {
  readonly #regex: RE2JS;

  /** @throws Error that names the construct and its position */
  constructor(source: string) {
    try {
      this.#regex = RE2JS.compile(source);
    } catch (error) {
      throw new Error(`the pattern of matches() is wrong: ${describeError(source, error)}`);
    }
    if (this.#regex.programSize() > MAX_SIZE) throw new Error("the pattern of matches() is too large");
  }

  /** Whether the pattern matches anywhere in the text. @throws Error if the budget is spent */
  test(text: string, budget: Budget): boolean {
    budget.match(this.#regex.programSize(), text.length);
    // Not `test`: it tries a DFA first, and a text can make it build a new state per character.
    return this.#regex.matcher(text).find();
  }
}

/** Compiles a pattern that is part of the arguments. @throws Error that quotes nothing of it */
export function compileArgument(source: string, budget: Budget): Pattern {
  const counts = [...source.matchAll(/\{(\d*),?(\d*)/g)].map(([, least, most]) =>
    Math.max(1, Number(least), Number(most)),
  );
  budget.compile(
    source.length,
    counts.reduce((product, count) => Math.min(MAX_COUNT, product * count), 1),
  );
  try {
    return new Pattern(source);
  } catch {
    throw new Error("the pattern in the arguments is too large, or not in RE2 syntax");
  }
}

/** Returns what is wrong, and where. */
function describeError(source: string, error: unknown): string {
  if (!(error instanceof RE2JSSyntaxException)) {
    if (error instanceof RE2JSException) return error.message;
    throw error;
  }
  const description = error.getDescription();
  const construct = error.getPattern() ?? "";
  const at = (index: number) => `(at its character ${index + 1})`;
  // For parentheses without a partner, RE2 names the whole pattern.
  if (description === "missing closing )") return `missing closing ) ${at(source.length)}`;
  if (description === "unexpected )") return `unexpected ) ${at(unexpectedParenthesis(source))}`;
  if (construct === "") return `${description} ${at(Math.max(0, source.length - 1))}`;
  const index = source.indexOf(construct);
  if (/^\(\?<?[=!]/.test(construct)) return `RE2 has no lookarounds: ${construct} ${at(index)}`;
  if (/^\\[1-9]/.test(construct)) return `RE2 has no backreferences: ${construct} ${at(index)}`;
  return `${description}: ${construct} ${at(index)}`;
}

function unexpectedParenthesis(source: string): number {
  for (let index = source.indexOf(")"); index !== -1; index = source.indexOf(")", index + 1)) {
    try {
      RE2JS.compile(source.slice(0, index + 1));
    } catch (error) {
      if (error instanceof RE2JSSyntaxException && error.getDescription() === "unexpected )") return index;
    }
  }
  return source.length - 1;
}

/**
 * The part of template matching for `;`, `?` and `&`: optional `name=value` pairs in any order.
 *
 * Invariant: one right-to-left pass fills the tables, so each variable takes linear time. A
 * variable takes one pair. Only an exploded one takes several, under its own name (a list) or any
 * other (a map).
 */

import { type Capture, fits, holdsAt, plainValue, type Subject } from "./subject.ts";
import { operatorStyles, type TemplateExpression, type TemplateValue, type TemplateVariable } from "./template.ts";
import { decodeTokens, tokenClass } from "./tokens.ts";

const EQUALS = 61;

export interface PairTables {
  readonly kind: "pairs";
  readonly entry: Uint8Array;
  /** `pair[i]`: the URI is accepted if a pair begins at token i. */
  readonly pair: Uint8Array;
  /** `valueEnd[i]`: the nearest possible end of a value that begins at token i, or -1. */
  readonly valueEnd: Int32Array;
  /** The same for a whole pair of an exploded variable, with any name. */
  readonly pairEnd: Int32Array;
}

interface PairClasses {
  readonly value: Uint8Array;
  readonly pair: Uint8Array;
}

const strictClasses: PairClasses = {
  value: tokenClass("unreserved", { add: "," }),
  pair: tokenClass("unreserved", { add: ",=" }),
};
const looseQuery = tokenClass("all", { remove: "&#" });
const loosePath = tokenClass("all", { remove: "/?#;" });

function classesOf(expression: TemplateExpression, strict: boolean): PairClasses {
  if (strict) return strictClasses;
  const loose = expression.operator === ";" ? loosePath : looseQuery;
  return { value: loose, pair: loose };
}

export function pairTables(expression: TemplateExpression, subject: Subject, after: Uint8Array): PairTables {
  const { tokens } = subject;
  const style = operatorStyles[expression.operator];
  const first = style.first.charCodeAt(0);
  const separator = style.separator.charCodeAt(0);
  const classes = classesOf(expression, subject.strict);
  const size = tokens.length;
  const table: PairTables = {
    kind: "pairs",
    entry: new Uint8Array(size + 1),
    pair: new Uint8Array(size + 2),
    valueEnd: new Int32Array(size + 2).fill(-1),
    pairEnd: new Int32Array(size + 2).fill(-1),
  };
  let valueEnd = -1;
  let pairEnd = -1;
  for (let i = size; i >= 0; i -= 1) {
    if (after[i] === 1 || (tokens[i] === separator && table.pair[i + 1] === 1)) valueEnd = pairEnd = i;
    table.valueEnd[i] = valueEnd;
    table.pairEnd[i] = pairEnd;
    const before = i > 0 ? tokens[i - 1] : undefined;
    if (before === undefined) continue;
    if (before === first || before === separator) {
      if (expression.variables.some((variable) => takesPair(variable, subject, { table, at: i }))) table.pair[i] = 1;
    }
    if (classes.value[before] !== 1) valueEnd = -1;
    if (classes.pair[before] !== 1) pairEnd = -1;
  }
  for (let i = 0; i <= size; i += 1) {
    if (after[i] === 1 || (tokens[i] === first && table.pair[i + 1] === 1)) table.entry[i] = 1;
  }
  return table;
}

function takesPair(variable: TemplateVariable, subject: Subject, spot: { table: PairTables; at: number }): boolean {
  if (variable.explode && spot.table.pairEnd[spot.at] !== -1) return true;
  return namedValue(variable, subject, spot) !== -1;
}

/**
 * Returns where the value of a pair with this variable's name begins, or -1. Without `=`, that is
 * the end of the name.
 */
function namedValue(variable: TemplateVariable, subject: Subject, spot: { table: PairTables; at: number }): number {
  const { tokens } = subject;
  if (!holdsAt(tokens, variable.nameTokens, spot.at)) return -1;
  const nameEnd = spot.at + variable.nameTokens.length;
  if (tokens[nameEnd] === EQUALS) {
    const end = spot.table.valueEnd[nameEnd + 1] ?? -1;
    if (end !== -1 && fits(subject, variable, nameEnd + 1, end)) return nameEnd + 1;
  }
  return spot.table.valueEnd[nameEnd] === nameEnd ? nameEnd : -1;
}

/**
 * Passes an expression's values to `capture` and returns its end, or -1 if a name repeats or values
 * disagree.
 */
export function walkPairs(
  expression: TemplateExpression,
  subject: Subject,
  step: { table: PairTables; after: Uint8Array; at: number; capture: Capture },
): number {
  const { tokens } = subject;
  const { table } = step;
  const style = operatorStyles[expression.operator];
  const separator = style.separator.charCodeAt(0);
  const exploded = new Map<TemplateVariable, [string, string][]>();
  const used = new Set<TemplateVariable>();
  let at = step.at;
  if (tokens[at] !== style.first.charCodeAt(0) || table.pair[at + 1] !== 1) return at;
  for (let more = true; more; ) {
    at += 1;
    const spot = { table, at };
    const named = expression.variables.find((each) => !used.has(each) && namedValue(each, subject, spot) !== -1);
    const variable = named ?? expression.variables.find((each) => each.explode && table.pairEnd[at] !== -1);
    if (variable === undefined) return -1;
    const begin = named === undefined ? at : namedValue(named, subject, spot);
    const end = endOf(variable, subject, { step, begin, classes: classesOf(expression, subject.strict), separator });
    if (variable.explode) {
      const pairs = exploded.get(variable) ?? [];
      exploded.set(variable, pairs);
      pairs.push(
        named === undefined ? splitPair(tokens.subarray(begin, end)) : [variable.name, text(tokens, begin, end)],
      );
    } else {
      used.add(variable);
      if (!step.capture(variable, plainValue(tokens.subarray(begin, end)))) return -1;
    }
    at = end;
    more = tokens[end] === separator && table.pair[end + 1] === 1;
  }
  for (const [variable, pairs] of exploded) if (!step.capture(variable, collect(variable, pairs))) return -1;
  return at;
}

/** Returns the first separator that a pair can follow, or else the farthest end. */
function endOf(
  variable: TemplateVariable,
  subject: Subject,
  scan: {
    step: { table: PairTables; after: Uint8Array };
    begin: number;
    classes: PairClasses;
    separator: number;
  },
): number {
  const { tokens } = subject;
  const allowed = variable.explode ? scan.classes.pair : scan.classes.value;
  let exit = -1;
  for (let i = scan.begin; i <= tokens.length && fits(subject, variable, scan.begin, i); i += 1) {
    if (tokens[i] === scan.separator && scan.step.table.pair[i + 1] === 1) return i;
    if (scan.step.after[i] === 1) exit = i;
    if (i === tokens.length || allowed[tokens[i] ?? 0] !== 1) break;
  }
  return exit;
}

function text(tokens: Uint16Array, from: number, to: number): string {
  return decodeTokens(tokens.subarray(from, to), false);
}

function splitPair(tokens: Uint16Array): [string, string] {
  const equals = tokens.indexOf(EQUALS);
  if (equals === -1) return [decodeTokens(tokens, false), ""];
  return [text(tokens, 0, equals), text(tokens, equals + 1, tokens.length)];
}

function collect(variable: TemplateVariable, pairs: readonly [string, string][]): TemplateValue {
  if (pairs.every(([name]) => name === variable.name)) return pairs.map(([, value]) => value);
  return Object.fromEntries(pairs);
}

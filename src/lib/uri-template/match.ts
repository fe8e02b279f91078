/**
 * The inverse of template expansion: tests whether a URI matches a template, and with which values.
 *
 * Works right to left with one table per part of the template. `table[i]` is set if this part and
 * those after it accept the URI from token i on. The values are then read off left to right.
 *
 * Invariant: time and memory are at most the URI's length times the number of parts; nothing
 * backtracks. A match that exceeds the budget fails.
 *
 * RFC expansions are tried first, then values of clients that do not encode: `{id}` accepts `a@b`,
 * but never crosses `/`, `?` or `#`. Only `{path*}` crosses `/`, as some servers mean it. Query and
 * `;` parameters may be missing or in any order. A variable that occurs twice must have the same
 * value.
 */
import { MatchBudget } from "./match-budget.ts";
import { type PairTables, pairTables, walkPairs } from "./pairs.ts";
import { type Capture, fits, holdsAt, plainValue, type Subject, splitTokens, subjectOf } from "./subject.ts";
import {
  operatorStyles,
  type TemplateExpression,
  type TemplateLiteral,
  type TemplateValue,
  type TemplateVariable,
  type UriTemplate,
} from "./template.ts";
import { decodeTokens, tokenClass, tokenize } from "./tokens.ts";

/** The limit for URI length × template parts. Larger matches are refused. */
const MAX_CELLS = 1 << 26;

const EQUALS = 61;

interface ListTables {
  readonly kind: "list";
  readonly entry: Uint8Array;
  readonly starts: readonly Uint8Array[];
}
type Tables = { readonly kind: "literal"; readonly entry: Uint8Array } | ListTables | PairTables;

export function matchTemplate(
  template: UriTemplate,
  uri: string,
  budget = new MatchBudget(MAX_CELLS),
): Record<string, TemplateValue> | undefined {
  if (!budget.spend(uri.length + 1)) return undefined;
  const tokens = tokenize(uri);
  if (!literalEndsMatch(template, tokens)) return undefined;
  if (!budget.spend(tokens.length * tableCount(template))) return undefined;
  const subject = subjectOf(tokens);
  return matchSubject(template, subject) ?? matchSubject(template, { ...subject, strict: false });
}

/** A cheap test that rejects most URIs before any table is made. */
function literalEndsMatch(template: UriTemplate, tokens: Uint16Array): boolean {
  const first = template.parts[0];
  const last = template.parts.at(-1);
  if (first === undefined || last === undefined) return tokens.length === 0;
  if (template.literalCharacters > tokens.length) return false;
  if (first.kind === "literal" && !holdsAt(tokens, first.tokens, 0)) return false;
  return last.kind !== "literal" || holdsAt(tokens, last.tokens, tokens.length - last.tokens.length);
}

function tableCount(template: UriTemplate): number {
  return template.parts.reduce((sum, part) => sum + (part.kind === "literal" ? 1 : 1 + part.variables.length), 1);
}

function matchSubject(template: UriTemplate, subject: Subject): Record<string, TemplateValue> | undefined {
  const size = subject.tokens.length;
  let after: Uint8Array = new Uint8Array(size + 1);
  after[size] = 1;
  const afters: Uint8Array[] = [];
  const tables: Tables[] = [];
  for (let p = template.parts.length - 1; p >= 0; p -= 1) {
    const part = template.parts[p];
    if (part === undefined) continue;
    const table = tablesOf(part, subject, after);
    afters[p] = after;
    tables[p] = table;
    after = table.entry;
  }
  return after[0] === 1 ? readValues(template, subject, { tables, afters }) : undefined;
}

function tablesOf(part: TemplateLiteral | TemplateExpression, subject: Subject, after: Uint8Array): Tables {
  if (part.kind === "literal") return { kind: "literal", entry: literalTable(part.tokens, subject.tokens, after) };
  if (operatorStyles[part.operator].named) return pairTables(part, subject, after);
  return listTables(part, subject, after);
}

/** Uses Knuth-Morris-Pratt: a literal like `aaaa…b` against `aaaa…` must stay linear, too. */
function literalTable(literal: Uint16Array, tokens: Uint16Array, after: Uint8Array): Uint8Array {
  const table = new Uint8Array(tokens.length + 1);
  const borders = new Uint32Array(literal.length);
  for (let i = 1, k = 0; i < literal.length; i += 1) {
    while (k > 0 && literal[i] !== literal[k]) k = borders[k - 1] ?? 0;
    if (literal[i] === literal[k]) k += 1;
    borders[i] = k;
  }
  for (let i = 0, k = 0; i < tokens.length; i += 1) {
    while (k > 0 && tokens[i] !== literal[k]) k = borders[k - 1] ?? 0;
    if (tokens[i] === literal[k]) k += 1;
    if (k < literal.length) continue;
    if (after[i + 1] === 1) table[i + 1 - k] = 1;
    k = borders[k - 1] ?? 0;
  }
  return table;
}

const classCache = new Map<string, Uint8Array>();

/** Returns the tokens that a variable's value in an unnamed expression may contain. */
function valueClass(expression: TemplateExpression, variable: TemplateVariable, strict: boolean): Uint8Array {
  const style = operatorStyles[expression.operator];
  const { explode } = variable;
  // A bare comma separates list items, and a variable with a prefix modifier takes no lists.
  const list = variable.prefix === 0 && !explode;
  const key = `${expression.operator}|${explode}|${list}|${strict}`;
  const cached = classCache.get(key);
  if (cached !== undefined) return cached;
  const add = (explode ? `${style.separator}=` : "") + (list ? "," : "");
  const made = style.reserved
    ? tokenClass("all", {})
    : strict
      ? tokenClass("unreserved", { add })
      : tokenClass("all", { remove: explode && expression.operator === "" ? "?#" : "/?#", add });
  classCache.set(key, made);
  return made;
}

/** `starts[k][i]`: the URI is accepted if variable k's value begins at token i. */
function listTables(expression: TemplateExpression, subject: Subject, after: Uint8Array): ListTables {
  const { tokens } = subject;
  const style = operatorStyles[expression.operator];
  const separator = style.separator.charCodeAt(0);
  const starts: Uint8Array[] = [];
  const anyLater = new Uint8Array(tokens.length + 2);
  for (let k = expression.variables.length - 1; k >= 0; k -= 1) {
    const variable = expression.variables[k];
    if (variable === undefined) continue;
    const allowed = valueClass(expression, variable, subject.strict);
    const start = new Uint8Array(tokens.length + 1);
    // The nearest possible end decides: a value that cannot reach it can reach no end.
    let end = -1;
    for (let i = tokens.length; i >= 0; i -= 1) {
      if (after[i] === 1 || (tokens[i] === separator && anyLater[i + 1] === 1)) end = i;
      if (end !== -1 && fits(subject, variable, i, end)) start[i] = 1;
      if (i > 0 && allowed[tokens[i - 1] ?? 0] !== 1) end = -1;
    }
    starts[k] = start;
    for (let i = 0; i <= tokens.length; i += 1) if (start[i] === 1) anyLater[i] = 1;
  }
  const first = style.first === "" ? -1 : style.first.charCodeAt(0);
  const entry = new Uint8Array(tokens.length + 1);
  for (let i = 0; i <= tokens.length; i += 1) {
    const started = first === -1 ? anyLater[i] : tokens[i] === first ? anyLater[i + 1] : 0;
    if (after[i] === 1 || started === 1) entry[i] = 1;
  }
  return { kind: "list", entry, starts };
}

function readValues(
  template: UriTemplate,
  subject: Subject,
  made: { tables: readonly Tables[]; afters: readonly Uint8Array[] },
): Record<string, TemplateValue> | undefined {
  const values = new Map<string, { value: TemplateValue; prefix: boolean }>();
  const capture: Capture = (variable, value) => {
    const known = values.get(variable.name);
    const prefix = variable.prefix > 0;
    if (known === undefined || (known.prefix && !prefix)) values.set(variable.name, { value, prefix });
    return known === undefined || agree(known, { value, prefix });
  };
  let at = 0;
  for (const [p, part] of template.parts.entries()) {
    const table = made.tables[p];
    const after = made.afters[p];
    if (table === undefined || after === undefined) return undefined;
    if (part.kind === "literal") at += part.tokens.length;
    else if (table.kind === "pairs") at = walkPairs(part, subject, { table, after, at, capture });
    else if (table.kind === "list") at = walkList(part, subject, { table, after, at, capture });
    if (at === -1) return undefined;
  }
  return Object.fromEntries([...values].map(([name, { value }]) => [name, value]));
}

function agree(a: { value: TemplateValue; prefix: boolean }, b: { value: TemplateValue; prefix: boolean }): boolean {
  if (typeof a.value !== "string" || typeof b.value !== "string") {
    return JSON.stringify(a.value) === JSON.stringify(b.value);
  }
  if (a.prefix && a.value.length <= b.value.length) return b.value.startsWith(a.value);
  return b.prefix ? a.value.startsWith(b.value) : a.value === b.value;
}

/**
 * Passes an expression's values to `capture` and returns its end, or -1 if values disagree. A value
 * ends at the first separator from which the next variable can continue. The last value is as long
 * as possible.
 */
function walkList(
  expression: TemplateExpression,
  subject: Subject,
  step: { table: ListTables; after: Uint8Array; at: number; capture: Capture },
): number {
  const { tokens } = subject;
  const style = operatorStyles[expression.operator];
  const separator = style.separator.charCodeAt(0);
  const { starts } = step.table;
  const nextStart = (from: number, at: number) => starts.findIndex((start, k) => k >= from && start[at] === 1);
  let begin = step.at;
  if (style.first !== "") begin = tokens[begin] === style.first.charCodeAt(0) ? begin + 1 : -1;
  let k = begin === -1 ? -1 : nextStart(0, begin);
  if (k === -1) return step.at;
  for (;;) {
    const variable = expression.variables[k];
    if (variable === undefined) return -1;
    const allowed = valueClass(expression, variable, subject.strict);
    let exit = -1;
    let next = -1;
    let i = begin;
    for (; i <= tokens.length && fits(subject, variable, begin, i); i += 1) {
      if (step.after[i] === 1) exit = i;
      if (tokens[i] === separator) next = nextStart(k + 1, i + 1);
      if (next !== -1 || i === tokens.length || allowed[tokens[i] ?? 0] !== 1) break;
    }
    const end = next === -1 ? exit : i;
    if (next === -1 && end === step.at) return end;
    if (!step.capture(variable, listValue(variable, tokens.subarray(begin, end), style))) return -1;
    if (next === -1) return end;
    begin = i + 1;
    k = next;
  }
}

function listValue(
  variable: TemplateVariable,
  tokens: Uint16Array,
  style: { separator: string; reserved: boolean },
): TemplateValue {
  if (!variable.explode) return style.reserved ? decodeTokens(tokens, true) : plainValue(tokens);
  const items = splitTokens(tokens, style.separator.charCodeAt(0));
  const decode = (item: Uint16Array) => decodeTokens(item, style.reserved);
  if (!items.every((item) => item.includes(EQUALS))) return items.map(decode);
  return Object.fromEntries(
    items.map((item) => {
      const equals = item.indexOf(EQUALS);
      return [decode(item.subarray(0, equals)), decode(item.subarray(equals + 1))];
    }),
  );
}

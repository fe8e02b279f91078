/**
 * Bounds how long conditions may keep the gateway busy with one call. A client chooses the
 * arguments, so it chooses how often a loop runs, and how long the texts are that each round reads.
 *
 * The work of an expression is estimated before it runs, from its shape and from the size of each
 * argument that it names: every use of a value reads all of it, once for each round of the loops
 * around it. A match is paid for when it is reached, by the size of its pattern and the length of
 * its text.
 *
 * Invariant: the estimate is never less than the work, apart from a constant factor.
 */
import type { ASTNode } from "@marcbachmann/cel-js";
import type { Size } from "./exact-json.ts";

/** In characters read; about half a second. */
const MAX_WORK = 500_000_000;
/** One step of the interpreter takes as long as reading this many characters. */
const STEP = 20;
/** One instruction of a pattern for one character, likewise. */
const MATCH = 20;
/** To compile one character of a pattern, and for each time that a count repeats it. */
const COMPILE = 50_000;
const COMPILE_REPEATED = 2_000;

const LOOPS: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "map", "filter"]);
/** They compare a text with another one at every place. */
const SEARCHES: ReadonlySet<string> = new Set(["contains", "indexOf", "lastIndexOf", "split"]);

/** For all conditions that are asked about one call. */
export class Budget {
  #left = MAX_WORK;
  #end: Error | undefined;

  /** @throws Error if nothing is left */
  spend(work: number): void {
    this.#left -= work;
    if (this.#left >= 0) return;
    // A loop continues after an error, because another round may have an answer.
    this.#end ??= new Error("the arguments are too large for its loops and patterns");
    throw this.#end;
  }

  match(instructions: number, characters: number): void {
    this.spend(MATCH * instructions * characters);
  }

  compile(characters: number, repeats: number): void {
    this.spend((COMPILE + COMPILE_REPEATED * repeats) * characters);
  }
}

/** How large the values are that an expression can name. */
export interface Sizes {
  /** Of all arguments together. */
  readonly size: Size;
  readonly sizes: ReadonlyMap<string, Size>;
  /** How many groups and scopes the principal has. */
  readonly memberships: number;
}

/** What a value comes from: an argument by name, all arguments, the principal, or a literal. */
type Source = { readonly argument: string } | "args" | "who" | "literal";

/** How often something happens: the product of these. */
type Factor = number | { readonly of: Source; readonly count: "values" | "length" };

/** A value that an expression can name. */
interface Value {
  readonly source: Source;
  /** How often all of its source is read, if each of its values is read once. */
  readonly times: readonly Factor[];
  /** How many loops are around its definition. */
  readonly depth: number;
}

interface Scope {
  readonly variables: ReadonlyMap<string, Value>;
  /** How often each loop around this place runs at most, each time that it is reached. */
  readonly loops: readonly Factor[];
  /** How often this place is reached in all. */
  readonly rounds: readonly Factor[];
}

const ROOT: Scope = {
  variables: new Map<string, Value>([
    ["args", { source: "args", times: [], depth: 0 }],
    ["who", { source: "who", times: [], depth: 0 }],
  ]),
  loops: [],
  rounds: [],
};

/** Returns what estimates the work of an expression. */
export function workOf(root: ASTNode): (sizes: Sizes) => number {
  const terms: (readonly Factor[])[] = [];
  visit(root, ROOT);
  return (sizes) => {
    let work = 0;
    for (const factors of terms) {
      let term = 1;
      for (const factor of factors) term *= typeof factor === "number" ? factor : countOf(factor, sizes);
      work += term;
    }
    return work;
  };

  function visit(node: ASTNode, scope: Scope): void {
    terms.push([STEP, ...scope.rounds]);
    const value = namedValue(node, scope);
    if (value) {
      terms.push(readsOf(value, scope));
      // The rest is a path of names, or has an index.
      if (node.op === "[]" || node.op === "[?]") visit(node.args[1] as ASTNode, scope);
      return;
    }
    if (node.op === "rcall") return visitCall(node.args, scope);
    for (const child of childrenOf(node)) visit(child, scope);
  }

  function visitCall([name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]], scope: Scope): void {
    visit(receiver, scope);
    const [first, ...rest] = args;
    if (LOOPS.has(name) && first?.op === "id") {
      const range = rangeOf(receiver, scope);
      const variables = new Map(scope.variables).set(first.args as string, range.element);
      const rounds = [range.factor, ...range.element.times];
      const inner = { variables, loops: [...scope.loops, range.factor], rounds };
      for (const body of rest) visit(body, inner);
      return;
    }
    if (name === "bind" && first?.op === "id" && rest[0]) {
      visit(rest[0], scope);
      const variables = new Map(scope.variables).set(first.args as string, mixOf(rest[0], scope));
      for (const body of rest.slice(1)) visit(body, { ...scope, variables });
      return;
    }
    for (const argument of args) visit(argument, scope);
    if (SEARCHES.has(name) && first && first.op !== "value") {
      terms.push([{ of: mixOf(receiver, scope).source, count: "length" }, ...readsOf(mixOf(first, scope), scope)]);
    }
  }
}

function countOf({ of, count }: Exclude<Factor, number>, { size, sizes, memberships }: Sizes): number {
  if (of === "args") return size[count];
  if (of === "who") return memberships;
  return of === "literal" ? 1 : (sizes.get(of.argument)?.[count] ?? 0);
}

/** How much is read if all of a value is. */
function readsOf(value: Value, scope: Scope): readonly Factor[] {
  return [{ of: value.source, count: "length" }, ...timesOf(value, scope)];
}

/** How often a value is read here. */
function timesOf({ times, depth }: Value, { loops, rounds }: Scope): readonly Factor[] {
  return [...times, ...(depth === 0 ? rounds : loops.slice(depth))];
}

/** The value that a name, or a path that begins with one, stands for. */
function namedValue(node: ASTNode, scope: Scope): Value | undefined {
  if (node.op === "id") return scope.variables.get(node.args as string);
  if (node.op !== "." && node.op !== ".?" && node.op !== "[]" && node.op !== "[?]") return undefined;
  const [object, key] = node.args as readonly [ASTNode, string | ASTNode];
  const value = namedValue(object, scope);
  if (value?.source !== "args" || value.depth > 0) return value;
  const name = typeof key === "string" ? key : key.op === "value" ? key.args : undefined;
  return typeof name === "string" ? { ...value, source: { argument: name } } : value;
}

/** What a loop over this runs over, and how often. */
function rangeOf(node: ASTNode, scope: Scope): { readonly element: Value; readonly factor: Factor } {
  const depth = scope.loops.length + 1;
  const named = namedValue(node, scope);
  const value = named ?? mixOf(node, scope);
  const { source } = value;
  const element = { source, times: timesOf(value, scope), depth };
  if (named) return { element, factor: { of: source, count: "values" } };
  const isList = source === "literal" && node.op === "list";
  // Anything else is such as the parts of a text.
  return { element, factor: isList ? (node.args as readonly ASTNode[]).length : { of: source, count: "length" } };
}

/** What a computed value is made of: of one source, or of all arguments. */
function mixOf(node: ASTNode, scope: Scope): Value {
  const depth = 0;
  let source: Source = "literal";
  let loops = 0;
  const visit = (part: ASTNode): void => {
    const value = namedValue(part, scope);
    if (value) source = source === "literal" || isSame(source, value.source) ? value.source : "args";
    else if (part.op === "rcall" && LOOPS.has(part.args[0])) loops++;
    if (!value) for (const child of childrenOf(part)) visit(child);
  };
  const value = namedValue(node, scope);
  if (value) return value;
  visit(node);
  return { source, times: new Array<Factor>(loops).fill({ of: "args", count: "values" }), depth };
}

function isSame(one: Source, other: Source): boolean {
  if (typeof one === "string" || typeof other === "string") return one === other;
  return one.argument === other.argument;
}

export function* childrenOf({ op, args }: ASTNode): Generator<ASTNode> {
  if (op === "value" || op === "id") return;
  const pending: unknown[] = [args];
  while (pending.length > 0) {
    const next = pending.pop();
    if (Array.isArray(next)) pending.push(...(next as unknown[]));
    else if (typeof next === "object" && next !== null && "op" in next) yield next as ASTNode;
  }
}

/**
 * The interpreter of conditions: CEL, with `matches` by RE2.
 *
 * Invariants: an expression is checked before it is used, and gives a boolean. Its size is bounded,
 * and so is the work that it makes with a call's arguments (`work.ts`).
 */
import { type ASTNode, Environment } from "@marcbachmann/cel-js";
import type { Pattern } from "./pattern.ts";
import { Budget, childrenOf, type Sizes, workOf } from "./work.ts";

/** @throws Error if it has no boolean value, or the budget does not last */
export type Program = (variables: Readonly<Record<string, unknown>>, sizes: Sizes, budget: Budget) => boolean;

export interface Interpreter {
  /** @throws Error with what is wrong */
  compile(source: string): Program;
}

const MAX_SOURCE = 4000;
const LIMITS = { maxAstNodes: 1000, maxDepth: 64, maxListElements: 500, maxMapEntries: 100, maxCallArguments: 16 };
/** The same length as `matches`, so that the places in errors stay right. */
const MATCHES = "matchRe";

/** Compiles the patterns of `matches`. It is loaded apart from the interpreter. */
export interface PatternCompiler {
  /** @throws Error with what is wrong */
  compile(source: string): Pattern;
  /** Compiles a pattern from a call's arguments. @throws Error if it is wrong or too expensive */
  compileArgument(source: string, budget: Budget): Pattern;
}

/** What the patterns of the expression that is being evaluated need. */
interface Evaluation {
  readonly budget: Budget;
  /** The patterns that the expression has as literals. */
  readonly literals: ReadonlyMap<string, Pattern>;
  /** The newest pattern from the arguments: a loop often uses one for all its rounds. */
  latest?: { readonly source: string; readonly pattern: Pattern };
}

export function createInterpreter(patterns: PatternCompiler): Interpreter {
  let evaluation: Evaluation = { budget: new Budget(), literals: new Map() };
  const patternOf = (source: string): Pattern => {
    const literal = evaluation.literals.get(source);
    if (literal) return literal;
    if (evaluation.latest?.source !== source)
      evaluation.latest = { source, pattern: patterns.compileArgument(source, evaluation.budget) };
    return evaluation.latest.pattern;
  };
  const environment = new Environment({
    unlistedVariablesAreDyn: false,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: LIMITS,
  })
    .registerVariable("args", "map")
    // With a schema, so that a claim that does not exist is found when the config is read.
    .registerVariable({
      name: "who",
      schema: { id: "string", name: "string", client: "string", groups: "list<string>", scopes: "list<string>" },
    })
    .registerVariable({ name: "tool", schema: { server: "string", name: "string" } })
    .registerFunction(`string.${MATCHES}(string): bool`, (text: string, pattern: string) =>
      patternOf(pattern).test(text, evaluation.budget),
    );

  return {
    compile(source) {
      if (source.length > MAX_SOURCE) throw new Error(`an expression has at most ${MAX_SOURCE} characters`);
      const parsed = attempt(source, () => environment.parse(source));
      const program = attempt(source, () => environment.parse(withOwnMatches(source, parsed.ast)));
      const { valid, type, error } = program.check();
      if (!valid) throw new Error(described(source, error));
      if (type !== "bool" && type !== "dyn")
        throw new Error(`expected a condition, which is true or false; it is a ${type}`);
      const literals = new Map<string, Pattern>();
      for (const pattern of literalPatterns(parsed.ast)) literals.set(pattern, patterns.compile(pattern));
      const estimate = workOf(parsed.ast);
      return (variables, sizes, budget) => {
        budget.spend(estimate(sizes));
        evaluation = { budget, literals };
        const value: unknown = program({ ...variables });
        if (typeof value !== "boolean") throw new Error("its value is neither true nor false");
        return value;
      };
    },
  };
}

function attempt<Result>(source: string, parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    throw new Error(described(source, error));
  }
}

/** The interpreter's own message shows the source in several lines; its summary is one line. */
function described(source: string, error: unknown): string {
  const { summary, range } = error as { summary?: string; range?: { start: number } };
  const words = (summary ?? (error as Error).message.split("\n")[0]!).replaceAll(MATCHES, "matches");
  return range === undefined ? words : `${words} (at character ${Math.min(range.start, source.length) + 1})`;
}

/** Renames the calls of `matches`: a text can make the interpreter's own run for years. */
function withOwnMatches(source: string, root: ASTNode): string {
  let text = source;
  const visit = (node: ASTNode): void => {
    if (node.op === "rcall" && node.args[0] === "matches") {
      const at = source.indexOf("matches", node.args[1].range.end);
      text = text.slice(0, at) + MATCHES + text.slice(at + MATCHES.length);
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(root);
  return text;
}

function* literalPatterns(node: ASTNode): Generator<string> {
  if (node.op === "rcall" && node.args[0] === "matches") {
    const pattern = node.args[2][0];
    if (pattern?.op === "value" && typeof pattern.args === "string") yield pattern.args;
  }
  for (const child of childrenOf(node)) yield* literalPatterns(child);
}

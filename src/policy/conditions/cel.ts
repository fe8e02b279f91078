/**
 * The interpreter of conditions: CEL, with `matches` in linear time.
 *
 * Invariants: an expression is checked before it is used, and gives a boolean. Its size is bounded,
 * and so is the number of steps that nested loops over the arguments can take.
 */
import { type ASTNode, Environment } from "@marcbachmann/cel-js";
import { LinearPattern } from "./linear-pattern.ts";

/** `size`: how many values the arguments have. @throws Error if it has no boolean value */
export type Program = (variables: Readonly<Record<string, unknown>>, size: number) => boolean;

export interface Interpreter {
  /** @throws Error with what is wrong */
  compile(source: string): Program;
}

const MAX_SOURCE = 4000;
const LIMITS = { maxAstNodes: 1000, maxDepth: 64, maxListElements: 500, maxMapEntries: 100, maxCallArguments: 16 };
/** The most steps of nested loops. */
const MAX_STEPS = 200_000;
const LOOPS: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "map", "filter"]);
/** The same length as `matches`, so that the places in errors stay right. */
const MATCHES = "matchRe";
const MOST_PATTERNS = 256;

export function createInterpreter(): Interpreter {
  const patterns = new Map<string, LinearPattern>();
  const patternOf = (source: string): LinearPattern => {
    const known = patterns.get(source);
    if (known) return known;
    const made = new LinearPattern(source);
    if (patterns.size >= MOST_PATTERNS) patterns.clear();
    patterns.set(source, made);
    return made;
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
      patternOf(pattern).test(text),
    );

  return {
    compile(source) {
      if (source.length > MAX_SOURCE) throw new Error(`an expression has at most ${MAX_SOURCE} characters`);
      const parsed = attempt(source, () => environment.parse(source));
      const program = attempt(source, () => environment.parse(withLinearMatches(source, parsed.ast)));
      const { valid, type, error } = program.check();
      if (!valid) throw new Error(described(source, error));
      if (type !== "bool" && type !== "dyn")
        throw new Error(`expected a condition, which is true or false; it is a ${type}`);
      checkPatterns(parsed.ast);
      const depth = loopDepth(parsed.ast);
      return (variables, size) => {
        if (size ** depth > MAX_STEPS) throw new Error("the arguments have too many values for its loops");
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

function* childrenOf({ op, args }: ASTNode): Generator<ASTNode> {
  if (op === "value" || op === "id") return;
  const pending: unknown[] = [args];
  while (pending.length > 0) {
    const next = pending.pop();
    if (Array.isArray(next)) pending.push(...(next as unknown[]));
    else if (typeof next === "object" && next !== null && "op" in next) yield next as ASTNode;
  }
}

/** Renames the calls of `matches`: the interpreter's own can be slow. */
function withLinearMatches(source: string, root: ASTNode): string {
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

function checkPatterns(node: ASTNode): void {
  if (node.op === "rcall" && node.args[0] === "matches") {
    const pattern = node.args[2][0];
    if (pattern?.op === "value" && typeof pattern.args === "string") new LinearPattern(pattern.args);
  }
  for (const child of childrenOf(node)) checkPatterns(child);
}

/** How deep loops are nested. */
function loopDepth(node: ASTNode): number {
  const isLoop = node.op === "rcall" && LOOPS.has(node.args[0]);
  let deepest = 0;
  for (const child of childrenOf(node)) deepest = Math.max(deepest, loopDepth(child));
  return deepest + (isLoop ? 1 : 0);
}

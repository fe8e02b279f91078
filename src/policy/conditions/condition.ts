/**
 * A rule's condition: an expression in CEL over a call's arguments.
 *
 * The interpreter is loaded when the first condition is read, and RE2 when one uses `matches`.
 * Until then, and if an expression is wrong, a condition cannot be evaluated, which denies the
 * call.
 *
 * Invariant: evaluation is bounded, whatever the size of the arguments.
 */
import type { Principal } from "../../mcp/protocol/principal.ts";
import { writtenName } from "../who.ts";
import type { Interpreter, Program } from "./cel.ts";
import type { Members, Size } from "./exact-json.ts";
import type { Budget } from "./work.ts";

let interpreter: Interpreter | undefined;
let loadingInterpreter: Promise<void> | undefined;
let patterns: typeof import("./pattern.ts") | undefined;
let loadingPatterns: Promise<void> | undefined;

/**
 * Loads what the conditions in a text need, or everything. They can be checked and evaluated from
 * then on.
 */
export async function loadConditions(text?: string): Promise<void> {
  loadingInterpreter ??= import("./cel.ts").then(({ createInterpreter }) => {
    interpreter = createInterpreter({
      compile: (source) => new (loadedPatterns().Pattern)(source),
      compileArgument: (source, budget) => loadedPatterns().compileArgument(source, budget),
    });
  });
  if (text === undefined || usesPatterns(text))
    loadingPatterns ??= import("./pattern.ts").then((module) => {
      patterns = module;
    });
  await Promise.all([loadingInterpreter, loadingPatterns]);
}

function usesPatterns(text: string): boolean {
  return text.includes("matches");
}

function loadedPatterns(): typeof import("./pattern.ts") {
  if (!patterns) throw new Error("regular expressions are still being loaded");
  return patterns;
}

export interface ConditionInput {
  readonly args: Members;
  /** Of the arguments. */
  readonly size: Size;
  /** Of each argument. */
  readonly sizes: ReadonlyMap<string, Size>;
  /** What may be spent on this call. */
  readonly budget: Budget;
  readonly principal: Principal;
  readonly tool: { readonly server: string; readonly name: string };
}

/** @returns what is wrong with an expression; undefined if nothing is, or nothing is loaded yet */
export function conditionProblem(source: string): string | undefined {
  if (usesPatterns(source) && !patterns) return undefined;
  try {
    interpreter?.compile(source);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export class Condition {
  readonly source: string;
  #program: Program | undefined;

  constructor(source: string) {
    this.source = source;
    void loadConditions(source);
  }

  /** @throws Error if it cannot be evaluated */
  holds({ args, size, sizes, principal, tool, budget }: ConditionInput): boolean {
    if (!interpreter) throw new Error("conditions are still being loaded");
    this.#program ??= interpreter.compile(this.source);
    const { name, client, groups, scopes } = principal;
    const who = {
      id: writtenName(principal),
      name,
      client: client ?? "",
      groups: [...groups],
      scopes: [...(scopes ?? [])],
    };
    const memberships = who.groups.length + who.scopes.length;
    return this.#program({ args, who, tool }, { size, sizes, memberships }, budget);
  }
}

/**
 * A rule's condition: an expression in CEL over a call's arguments.
 *
 * The interpreter is loaded when the first condition is read. Before it is there, and if an
 * expression is wrong, a condition cannot be evaluated, which denies the call.
 *
 * Invariant: evaluation is bounded, whatever the size of the arguments.
 */
import type { Principal } from "../../mcp/protocol/principal.ts";
import { writtenName } from "../who.ts";
import type { Interpreter, Program } from "./cel.ts";
import type { Members, Size } from "./exact-json.ts";
import type { Budget } from "./work.ts";

let interpreter: Interpreter | undefined;
let loading: Promise<void> | undefined;

/** Loads the interpreter. Conditions can be checked and evaluated from then on. */
export function loadConditions(): Promise<void> {
  loading ??= import("./cel.ts").then(({ createInterpreter }) => {
    interpreter = createInterpreter();
  });
  return loading;
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

/** Returns what is wrong with an expression. Undefined if nothing is, or it cannot be told yet. */
export function conditionProblem(source: string): string | undefined {
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
    void loadConditions();
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

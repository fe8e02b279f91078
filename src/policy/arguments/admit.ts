/**
 * Decides about one call by its arguments, and gives the arguments that its server gets.
 *
 * Invariants: a condition that cannot be evaluated denies, and that of an ask asks. What a
 * condition reads, and what a person is asked about, is what the server reads: arguments that two
 * readers could understand differently are refused. Nothing of the arguments gets into a message
 * or the log.
 */
import { memberText } from "../../lib/json/json-text.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import type { ConditionInput } from "../conditions/condition.ts";
import { AmbiguousArguments, type ExactArguments, Members, readExactly } from "../conditions/exact-json.ts";
import { Budget } from "../conditions/work.ts";
import type { Rule } from "../policy.ts";
import type { Item } from "../rule.ts";
import type { Decision } from "../scope.ts";
import { withArguments } from "./call-arguments.ts";
import { checkDeclared } from "./declared.ts";
import { readingsOf } from "./readings.ts";

export interface CallToAdmit {
  readonly item: Item;
  readonly decision: Decision;
  readonly principal: Principal;
  /** The call's params, as they would go to the server. */
  readonly params: string;
  /** The tool's input schema. */
  readonly schema?: unknown;
  /** The tool's name as the client knows it. */
  readonly shownName: string;
}

const NO_RULES: readonly Rule[] = [];

/** Why a call was refused. */
export class Refusal extends GoblinError {
  /** The rule that decided; undefined if none did. */
  readonly rule: Rule | undefined;
  /** What the operator should know: the condition could not be evaluated. */
  readonly problem: string | undefined;

  constructor(message: string, { rule, problem }: { rule?: Rule | undefined; problem?: string | undefined }) {
    const reason = rule?.reason;
    super("POLICY_DENIED", reason === undefined ? message : `${message}: ${reason}`, {
      data: reason === undefined ? undefined : { reason },
    });
    this.rule = rule;
    this.problem = problem;
  }
}

/** A call that a person must allow first. */
export interface AskedCall {
  /** The params for the server. */
  readonly params: string;
  /** The rules that ask; at least one. */
  readonly asks: readonly Rule[];
}

/** Returns the params for the server. @throws Refusal, or GoblinError for ambiguous arguments */
export function admit(call: CallToAdmit): string | AskedCall {
  const { decision, params } = call;
  if (decision.isPlain) return params;
  try {
    const asks = decision.denies.length + decision.asks.length > 0 || decision.allows ? judge(call) : NO_RULES;
    const sent = withArguments(params, decision);
    return asks.length === 0 ? sent : { params: sent, asks };
  } catch (error) {
    if (!(error instanceof AmbiguousArguments)) throw error;
    throw new GoblinError("INVALID_PARAMS", `Invalid params: ${error.message}`);
  }
}

/** Tells whether a rule's condition holds for a call, for people. */
export function evaluateRule(
  rule: Rule,
  call: CallToAdmit,
): { holds?: boolean | undefined; problem?: string | undefined } {
  try {
    const [holds, problem] = evaluate(rule, inputsOf(call));
    return { holds, problem };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** One for each way in which the server may read the arguments. */
function inputsOf(call: CallToAdmit): readonly ConditionInput[] {
  const { item, principal } = call;
  const { value, size, sizes } = argumentsOf(call);
  const tool = { server: item.serverId, name: item.name };
  const budget = new Budget();
  return readingsOf(value, item.kind).map((args) => ({ args, size, sizes, principal, tool, budget }));
}

/** Returns the rules by which a person is asked. */
function judge(call: CallToAdmit): readonly Rule[] {
  const { decision } = call;
  const inputs = inputsOf(call);
  const message = `${call.shownName} may not be used with these arguments`;
  for (const rule of decision.denies) {
    const [holds, problem] = evaluate(rule, inputs);
    if (holds !== false) throw new Refusal(message, { rule, problem });
  }
  const { allows } = decision;
  let problem: string | undefined;
  const isAllowed =
    !allows ||
    allows.some((rule) => {
      const [holds, failed] = evaluate(rule, inputs);
      problem ??= failed;
      return holds ?? rule.effect === "ask";
    });
  if (!isAllowed) throw new Refusal(message, { rule: allows.find(({ reason }) => reason !== undefined), problem });
  const asks = decision.asks.filter((rule) => !rule.condition || evaluate(rule, inputs)[0] !== false);
  return asks.length > 0 && decision.unasked.some((rule) => evaluate(rule, inputs)[0]) ? NO_RULES : asks;
}

/**
 * Returns whether the rule's condition holds; if that cannot be told, the reason. An allow must
 * hold in every reading of the arguments, any other rule in one.
 */
function evaluate(rule: Rule, inputs: readonly ConditionInput[]): [holds: boolean | undefined, problem?: string] {
  const decides = rule.effect !== "allow";
  let problem: string | undefined;
  for (const input of inputs) {
    try {
      if (rule.condition!.holds(input) === decides) return [decides];
    } catch (error) {
      if (error instanceof AmbiguousArguments) throw error;
      // The interpreter's own messages may quote an argument; its codes do not.
      const { code, message } = error as { code?: unknown; message: string };
      problem ??= typeof code === "string" ? code.replaceAll("_", " ") : message;
    }
  }
  if (problem === undefined) return [!decides];
  return [undefined, `the condition of ${rule.name} could not be evaluated: ${problem}`];
}

function argumentsOf({ item, params, schema }: CallToAdmit): ExactArguments {
  if (item.kind === "resource") {
    const size = { values: 1, length: item.name.length };
    return { value: new Members().set("uri", item.name), size, sizes: new Map([["uri", size]]) };
  }
  const text = memberText(params, "arguments");
  const read = readExactly(text === undefined || text === "null" ? "{}" : text);
  checkDeclared(read.value, schema);
  return read;
}

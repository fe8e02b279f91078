/**
 * The policy as a part of what clients see: the entries that its rules leave, without the arguments
 * that they set or hide, and the check of each call that depends on arguments.
 */

import { recordOf } from "../../lib/structures/record.ts";
import type { ArgumentsToAdmit, AskFirst, Visibility, VisibleEntry } from "../../mcp/protocol/principal.ts";
import { type AskedCall, admit } from "../../policy/arguments/admit.ts";
import { withoutParameters } from "../../policy/arguments/listed-schema.ts";
import type { Item } from "../../policy/rule.ts";
import type { Decision, Scope } from "../../policy/scope.ts";
import type { Condition } from "./conditions.ts";

/** An entry must be one that the rules leave visible. */
export function underRules(scope: Scope): Condition {
  return {
    key: scope.key,
    showsServer: (serverId) => scope.seesServer(serverId),
    shows: (entry) => decisionOn(entry, scope).isVisible,
  };
}

/** What rules do with the arguments of tools; nothing if none does anything. */
export function argumentRules(scope: Scope | undefined): Pick<Visibility, "shape" | "admit" | "asks" | "mayAsk"> {
  if (!scope?.needsArguments) return {};
  return {
    mayAsk: scope.rules.some(({ effect }) => effect === "ask"),
    asks: (entry) => decisionOn(entry, scope).asks.length > 0,
    shape(entry, text) {
      const { sets, hides } = decisionOn(entry, scope);
      if (sets.length + hides.length === 0) return text;
      return withoutParameters(text, [...sets.map(({ path }) => path), ...hides]);
    },
    admit(request) {
      const decision = decisionOn(request, scope);
      if (decision.isPlain) return request.params;
      const admitted = admit(callOf(request, decision));
      return typeof admitted === "string" ? admitted : askFirst(admitted);
    },
  };
}

function askFirst({ params, asks }: AskedCall): AskFirst {
  return {
    params,
    rule: asks.map(({ name }) => name).join(", "),
    reason: asks.find(({ reason }) => reason !== undefined)?.reason,
    revision: asks
      .map(({ revision }) => revision)
      .sort()
      .join("."),
  };
}

function callOf(request: ArgumentsToAdmit, decision: Decision) {
  const { who: principal, params, shownName, definition, kind } = request;
  const schema = kind === "prompt" ? promptSchema(definition?.["arguments"]) : definition?.["inputSchema"];
  return { item: itemOf(request), decision, principal, params, shownName, schema };
}

/** All arguments of a prompt are texts. */
function promptSchema(declared: unknown): unknown {
  const names = Array.isArray(declared) ? declared.map((argument: unknown) => recordOf(argument)["name"]) : [];
  const texts = names.filter((name) => typeof name === "string").map((name) => [name, { type: "string" }] as const);
  return { properties: Object.fromEntries(texts) };
}

function decisionOn(entry: VisibleEntry, scope: Scope): Decision {
  const { definition, serverId, name } = entry;
  return definition ? scope.decide(itemOf(entry), definition) : scope.decideUri(serverId, name);
}

function itemOf({ kind, serverId, name, definition }: VisibleEntry): Item {
  return {
    kind: kind === "template" ? "resource" : kind,
    serverId,
    name,
    annotations: definition?.["annotations"],
  };
}

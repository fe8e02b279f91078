/**
 * Asks a running gateway about a tool, a prompt or a URI. It says who owns it, under which name,
 * and why it is listed or hidden. It names the rules and the timeout, with file and line, and
 * reports the server's state, its breaker, tokens and the last errors.
 */
import type { ExplainResult } from "../../../admin/api/explain/schema.ts";
import { adminRoutes } from "../../../admin/api/routes.ts";
import { clean } from "../../../lib/text/clean.ts";
import { formatMs } from "../../../lib/text/format.ts";
import { RefusedRequest } from "../gateway/refused-request.ts";
import type { Target } from "../gateway/target.ts";
import { printJson } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

/** The question, in the words of the command's options. */
export interface GatewayQuestion {
  readonly as?: string | undefined;
  readonly group?: readonly string[] | undefined;
  readonly scope?: readonly string[] | undefined;
  readonly client?: string | undefined;
  readonly profile?: string | undefined;
  /** A JSON object. */
  readonly args?: string | undefined;
}

/** @throws UsageError if the gateway does not know the name or the profile */
export async function explainByGateway(
  name: string,
  target: Target,
  question: GatewayQuestion,
): Promise<ExplainResult> {
  const { as, group: groups, scope: scopes, client, profile, args } = question;
  const given = args === undefined ? undefined : (JSON.parse(args) as unknown);
  try {
    return await target.request(adminRoutes.explain, { name, as, groups, scopes, client, profile, arguments: given });
  } catch (error) {
    const isMistake =
      error instanceof RefusedRequest && (error.code === "NOT_FOUND" || error.code === "INVALID_PARAMS");
    throw isMistake ? new UsageError(error.message) : error;
  }
}

/** Returns the exit code of `goblin explain`. */
export function printAnswer(answer: ExplainResult, json: boolean): number {
  const { serverId: server, originalName: tool, name: exposed, rules, ...rest } = answer;
  const placed = rules.map((rule) => ({ ...rule, at: placeOf(rule.line, answer) }));
  if (json) printJson({ server, tool, exposed, known: true, ...rest, rules: placed });
  else for (const line of linesOf(answer)) console.log(clean(line));
  const isUsable = answer.state === "ready" || answer.state === "degraded";
  return isUsable ? exitCodeFor(answer.effect) : 1;
}

/** A call that a person is asked about can still run, so only a denial fails. */
export function exitCodeFor(effect: ExplainResult["effect"]): number {
  return effect === "deny" ? 1 : 0;
}

export function placeOf(line: number | null, { config }: Pick<ExplainResult, "config">): string {
  return line === null || config === null ? "the config" : `${config}:${line}`;
}

function* linesOf(answer: ExplainResult): Generator<string> {
  const { kind, name, originalName, serverId, listed, why, visible, effect, decidedBy, refusal, rules } = answer;
  yield `${kind.padEnd(8)} ${originalName} of ${serverId}, as clients name it: ${name}`;
  yield `seen     ${visible ? "yes" : `no: it does not exist for this principal, because ${why}`}`;
  if (visible) yield `listed   ${listed ? "yes" : `no: ${why}`}`;
  const decided = rules.find(({ id }) => id === decidedBy);
  const by = decided ? `${decided.id} at ${placeOf(decided.line, answer)}` : "policy.default or a profile";
  if (rules.length > 0 || effect === "deny") yield `effect   ${effect}, by ${by}`;
  if (refusal !== null) yield `says     ${refusal}`;
  const sent = JSON.stringify(answer.arguments);
  if (effect !== "deny" && sent !== "{}" && sent !== "null") yield `sends    ${sent}`;
  for (const rule of rules) {
    const base = `rule     ${rule.effect} ${rule.id} at ${placeOf(rule.line, answer)}`;
    const outcome = rule.problem ?? (rule.holds ? "holds" : "does not hold");
    yield rule.when === null ? base : `${base}, when ${rule.when}: ${outcome}`;
  }
  yield* factsOf(answer);
}

function* factsOf(answer: ExplainResult): Generator<string> {
  const { state, reason, breaker, timeout, results, tokens, kind, calls, errors, lastErrors } = answer;
  yield `server   ${state}${reason === null ? "" : `: ${reason}`}`;
  const waits = `open after ${breaker.failures} failures in a row, tries again in ${formatMs(breaker.retryInMs)}`;
  yield `breaker  ${breaker.open ? waits : "closed: calls are sent"}`;
  const from =
    timeout.line === null ? `${timeout.from}, by default` : `${timeout.from} at ${placeOf(timeout.line, answer)}`;
  yield `timeout  ${timeout.ms} ms, ${from}; with progress at most ${timeout.maxMs} ms`;
  if (results !== null) yield `results  ${results}`;
  if (tokens !== null) yield `tokens   ${tokens}`;
  if (kind === "tool" || kind === "prompt") yield `calls    ${calls}, ${errors} failed`;
  for (const { time, code, requestId } of lastErrors)
    yield `error    ${code} at ${new Date(time).toISOString()} (goblin calls show ${requestId})`;
}

/**
 * `goblin policy test <file>`: runs cases of who may use what against the rules of a config.
 *
 * It starts nothing. Exit code 0 if all cases hold, 1 if one does not.
 */
import { readFileSync } from "node:fs";
import { parseSyntax } from "../../../config/reading/document.ts";
import { type CaseProblem, type PolicyCase, readCases } from "../../../config/reading/policy-cases.ts";
import { clean } from "../../../lib/text/clean.ts";
import { askedPrincipal } from "../../../policy/asked-principal.ts";
import { loadConditions } from "../../../policy/conditions/condition.ts";
import { type Explanation, explain } from "../../../policy/explain.ts";
import type { Policy } from "../../../policy/policy.ts";
import type { Item } from "../../../policy/rule.ts";
import { painter } from "../terminal/paint.ts";
import { printJson } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { ownerByConfig, type PolicyFile, policyOf, readPolicyFile } from "./question.ts";

export interface PolicyTestOptions {
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
}

interface Outcome {
  readonly name: string;
  readonly ok: boolean;
  readonly expected: string;
  readonly effect: string;
  readonly visible: boolean;
  readonly rule: string | null;
  readonly at: string | null;
  readonly problems: readonly string[];
}

export async function policyTest(file: string, options: PolicyTestOptions): Promise<number> {
  const cases = casesIn(file);
  const policyFile = await readPolicyFile(options.config);
  await loadConditions();
  const policy = policyOf(policyFile.config);
  const outcomes = cases.map((each, i) => judged(each, { i, policyFile, explanation: ask(each, policyFile, policy) }));
  const failed = outcomes.filter(({ ok }) => !ok).length;
  if (options.json) printJson({ passed: outcomes.length - failed, failed, cases: outcomes });
  else print(outcomes, failed);
  return failed === 0 ? 0 : 1;
}

function casesIn(file: string): readonly PolicyCase[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`${file} cannot be read: ${(cause as Error).message}`);
  }
  const { error } = parseSyntax(text);
  const read = error ? { problems: [{ line: 0, message: error.message } satisfies CaseProblem] } : readCases(text);
  if ("cases" in read) return read.cases;
  throw new UsageError(read.problems.map(({ line, message }) => `${file}:${line} ${message}`).join("\n"));
}

function ask(each: PolicyCase, { config }: PolicyFile, policy: Policy | undefined): Explanation {
  const kind = each.tool !== undefined ? "tool" : each.prompt !== undefined ? "prompt" : "resource";
  const written = each.tool ?? each.prompt ?? each.resource ?? "";
  const owner = each.server === undefined ? ownerByConfig(written, config) : { serverId: each.server, name: written };
  if (!config.servers.some(({ id }) => id === owner.serverId))
    throw new UsageError(`a case names the server "${owner.serverId}", which the config does not have`);
  const item: Item = { kind, ...owner, annotations: each.annotations };
  const principal = askedPrincipal(typeof each.as === "string" ? { principal: each.as } : (each.as ?? {}));
  return explain(policy, { principal, item, args: JSON.stringify(each.arguments ?? {}) });
}

interface Judged {
  readonly i: number;
  readonly policyFile: PolicyFile;
  readonly explanation: Explanation;
}

function judged(each: PolicyCase, { i, policyFile, explanation }: Judged): Outcome {
  const { effect, isVisible, decidedBy, sent } = explanation;
  const problems: string[] = [];
  if (effect !== each.expect) problems.push(`expected ${each.expect}, got ${effect}`);
  if (each.visible !== undefined && each.visible !== isVisible)
    problems.push(`expected it to be ${each.visible ? "visible" : "hidden"}`);
  const rule = decidedBy?.name;
  if (each.rule !== undefined && each.rule !== rule)
    problems.push(`expected rule ${each.rule}, but ${rule ?? "policy.default"} decides`);
  if (each.sent !== undefined && !sameJson(each.sent, sent)) problems.push(`the server gets ${sent ?? "nothing"}`);
  return {
    name: each.name ?? `case ${i + 1}`,
    ok: problems.length === 0,
    expected: each.expect,
    effect,
    visible: isVisible,
    problems,
    rule: rule ?? null,
    at: decidedBy ? policyFile.placeOf(decidedBy) : null,
  };
}

function sameJson(expected: unknown, sent: string | undefined): boolean {
  return sent !== undefined && canonical(expected) === canonical(JSON.parse(sent));
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function print(outcomes: readonly Outcome[], failed: number): void {
  const paint = painter(process.stdout);
  for (const { name, ok, problems, effect, rule, at } of outcomes) {
    const by = rule === null ? "by default" : `by ${rule} at ${at}`;
    const end = ok ? "" : `: ${problems.join("; ")} (${effect} ${by})`;
    console.log(`${paint(ok ? "green" : "red", ok ? "ok  " : "FAIL")} ${clean(name + end)}`);
  }
  console.log(`${outcomes.length - failed} of ${outcomes.length} cases hold`);
}

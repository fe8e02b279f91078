/**
 * Sets and removes arguments of a call in its JSON text. All other characters stay as they are.
 *
 * Invariant: the server finds the value that was set, and none that was hidden, however it reads
 * the text. Where two readers could disagree, the arguments are refused.
 */
import { foldWords } from "../../lib/json/fold-key.ts";
import { cutMembers, eachMember, elementSpans, memberSpan, memberText, setMember } from "../../lib/json/json-text.ts";
import type { ArgumentPath } from "../argument-path.ts";
import { AmbiguousArguments } from "../conditions/exact-json.ts";
import type { Setting } from "../scope.ts";

/** Of lists in lists. */
const MAX_DEPTH = 32;

export interface ArgumentRules {
  readonly sets: readonly Pick<Setting, "path" | "value">[];
  readonly hides: readonly ArgumentPath[];
}

/** @throws AmbiguousArguments */
export function withArguments(params: string, { sets, hides }: ArgumentRules): string {
  const given = memberText(params, "arguments");
  const isMissing = given === undefined || given === "null";
  if (isMissing && sets.length === 0) return params;
  let text = isMissing ? "{}" : given;
  if (!text.startsWith("{")) throw new AmbiguousArguments('"arguments" must be an object');
  for (const path of hides) text = withoutArgument(text, path);
  for (const { path, value } of sets) text = withArgument(text, path, value);
  return text === given ? params : setMember(params, "arguments", text);
}

function withoutArgument(text: string, [step, ...rest]: ArgumentPath): string {
  if (step === undefined) return text;
  refuseOtherSpelling(text, step);
  if (rest.length === 0) return cutMembers(text, (key) => key === step);
  const span = onlyMember(text, step);
  if (!span) return text;
  const value = text.slice(span.start, span.end);
  const edited = withoutBelow(value, rest, 0);
  return edited === value ? text : text.slice(0, span.start) + edited + text.slice(span.end);
}

/** Lists have no names: the path goes on in each element, and in lists of lists. */
function withoutBelow(value: string, path: ArgumentPath, depth: number): string {
  if (value.startsWith("{")) return withoutArgument(value, path);
  if (holdsJson(value)) throw new AmbiguousArguments(`"${path[0]}" cannot be hidden in a text; send an object`);
  if (!value.startsWith("[")) return value;
  if (depth > MAX_DEPTH) throw new AmbiguousArguments("the arguments are nested too deeply");
  return withoutInElements(value, path, depth + 1);
}

/** Some servers parse a text where they expect an object. */
function holdsJson(value: string): boolean {
  return value.startsWith('"') && /^\s*[{["]/.test(JSON.parse(value) as string);
}

function withoutInElements(value: string, path: ArgumentPath, depth: number): string {
  let edited = "";
  let from = 0;
  for (const { start, end } of elementSpans(value, 0)) {
    edited += value.slice(from, start) + withoutBelow(value.slice(start, end), path, depth);
    from = end;
  }
  return edited + value.slice(from);
}

function withArgument(text: string, [step, ...rest]: ArgumentPath, value: string): string {
  if (step === undefined) return text;
  refuseOtherSpelling(text, step);
  if (rest.length === 0) return setMember(text, step, value);
  const span = onlyMember(text, step);
  const inner = span && text.slice(span.start, span.end);
  const isMissing = inner === undefined || inner === "null";
  if (!isMissing && !inner.startsWith("{")) throw new AmbiguousArguments(`"${step}" must be an object`);
  return setMember(text, step, withArgument(isMissing ? "{}" : inner, rest, value));
}

/** A server that ignores case, or takes `repo_name` for `repoName`, would read the other one. */
function refuseOtherSpelling(text: string, step: string): void {
  const form = foldWords(step);
  eachMember(text, 0, (key) => {
    if (key !== step && foldWords(key) === form) throw new AmbiguousArguments(`"${key}" is not an argument`);
  });
}

function onlyMember(text: string, step: string): { readonly start: number; readonly end: number } | undefined {
  let count = 0;
  eachMember(text, 0, (key) => {
    if (key === step) count++;
  });
  if (count > 1) throw new AmbiguousArguments(`"${step}" appears twice; send it once`);
  return memberSpan(text, 0, step);
}

/**
 * Patterns of fields in JSON: `items[].{id,title}`, `**.html`, `"a key".*`.
 *
 * A pattern is a list of steps. A name is a member, `*` any member, `{a,b}` one of these, `[]` any
 * element of an array, and `**` any number of members and elements. A walk of a value keeps the
 * states of all patterns at once, so each member is looked at once for all of them.
 */
import { byteForm } from "./json-bytes.ts";

type Step =
  | { readonly kind: "names"; readonly names: ReadonlySet<string> }
  | { readonly kind: "any" | "element" | "deep" };

/** Where a walk is: how many steps of which pattern are done. */
export type PatternStates = readonly PatternState[];

interface PatternState {
  readonly steps: readonly Step[];
  readonly done: number;
}

const NAME = /^[^\s.[\]{},*"]+/;
const QUOTED = /^"(?:[^"\\]|\\.)*"/;
const CHOICE = /^\{[^{}]*\}/;

export class PatternSyntaxError extends Error {}

/** Returns where a walk begins. Throws a `PatternSyntaxError` that says what is wrong. */
export function compilePatterns(patterns: readonly string[]): PatternStates {
  return patterns.map((pattern) => ({ steps: stepsOf(pattern), done: 0 }));
}

/** Whether the value here is one that a pattern names. */
export function isMatched(states: PatternStates): boolean {
  return states.some(({ steps, done }) => done === steps.length);
}

/** The states in the member of this name, in its byte form. */
export function inMember(states: PatternStates, name: string): PatternStates {
  return advanced(states, (step) => step.kind === "any" || (step.kind === "names" && step.names.has(name)));
}

/** The states in each element of the array here. */
export function inElements(states: PatternStates): PatternStates {
  return advanced(states, ({ kind }) => kind === "element");
}

function advanced(states: PatternStates, fits: (step: Step) => boolean): PatternStates {
  const next: PatternState[] = [];
  const add = (steps: readonly Step[], done: number): void => {
    if (!next.some((known) => known.steps === steps && known.done === done)) next.push({ steps, done });
  };
  for (const { steps, done } of states) {
    let at = done;
    while (steps[at]?.kind === "deep") {
      add(steps, at);
      at++;
    }
    const step = steps[at];
    if (step && fits(step)) add(steps, at + 1);
    else if (!step && at > done) add(steps, at);
  }
  return next;
}

function stepsOf(pattern: string): Step[] {
  const steps: Step[] = [];
  let rest = pattern;
  const fail = (why: string): never => {
    throw new PatternSyntaxError(`${why} in the pattern ${JSON.stringify(pattern)}`);
  };
  if (rest === "") fail("nothing");
  while (rest !== "") {
    if (rest.startsWith("[]")) {
      steps.push({ kind: "element" });
      rest = rest.slice(2);
    } else {
      if (steps.length > 0) rest = rest.startsWith(".") ? rest.slice(1) : fail("a dot or [] is missing");
      const { step, length } =
        stepAt(rest) ?? fail(rest === "" ? "a dot at the end" : `cannot read "${rest.slice(0, 20)}"`);
      steps.push(step);
      rest = rest.slice(length);
    }
  }
  return steps;
}

function stepAt(text: string): { readonly step: Step; readonly length: number } | undefined {
  if (text.startsWith("**")) return { step: { kind: "deep" }, length: 2 };
  if (text.startsWith("*")) return { step: { kind: "any" }, length: 1 };
  const choice = CHOICE.exec(text)?.[0];
  if (choice !== undefined) {
    const names = choice
      .slice(1, -1)
      .split(",")
      .map((name) => nameOf(name.trim()));
    return names.every((name) => name !== undefined) ? namesStep(names, choice.length) : undefined;
  }
  const written = (QUOTED.exec(text) ?? NAME.exec(text))?.[0];
  const name = written === undefined ? undefined : nameOf(written);
  return name === undefined ? undefined : namesStep([name], written!.length);
}

function namesStep(names: readonly string[], length: number): { readonly step: Step; readonly length: number } {
  return { step: { kind: "names", names: new Set(names.map(byteForm)) }, length };
}

function nameOf(written: string): string | undefined {
  if (QUOTED.exec(written)?.[0] === written) {
    try {
      return JSON.parse(written) as string;
    } catch {
      return undefined;
    }
  }
  return NAME.exec(written)?.[0] === written ? written : undefined;
}

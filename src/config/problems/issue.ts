/**
 * Turns a zod issue into a config problem.
 *
 * A message names the expected value, and of the found value only its type: it may be a secret.
 */
import type * as z from "zod";
import { nearestWord } from "../../lib/text/nearest/nearest-word.ts";
import type { KeyPath } from "./locate.ts";
import type { FindingOptions, Report } from "./report.ts";

type Issue = z.core.$ZodIssue;

export interface IssueContext {
  readonly report: Report;
  /** Returns the keys allowed in the object at this path. */
  knownKeys(path: KeyPath): readonly string[];
  valueAt(path: KeyPath): unknown;
  /** Returns a better hint for an unknown key than its nearest match. */
  hintFor(path: KeyPath): string | undefined;
}

export function reportIssue(issue: Issue, context: IssueContext): void {
  // Paths into parsed JSON hold only strings and numbers.
  const path = issue.path as (string | number)[];
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys) reportUnknownKey([...path, key], context);
    return;
  }
  const { message, ...options } = describe(issue, context.valueAt(path));
  context.report.error(path, message, options);
}

function reportUnknownKey(path: KeyPath, context: IssueContext): void {
  const meant = nearestWord(String(path.at(-1)), context.knownKeys(path.slice(0, -1)));
  const hint = context.hintFor(path) ?? (meant === undefined ? undefined : `did you mean ${JSON.stringify(meant)}?`);
  context.report.error(path, "unknown key", { hint, at: "key" });
}

function describe(issue: Issue, found: unknown): { message: string } & FindingOptions {
  switch (issue.code) {
    case "invalid_type":
      if (issue.expected === "int") return { message: "expected a whole number" };
      return { message: `expected ${typeText(issue.expected)}, found ${typeOf(found)}` };
    case "invalid_value": {
      const values = issue.values.map(String);
      const meant = typeof found === "string" ? nearestWord(found, values) : undefined;
      return {
        message: `expected one of ${values.map((value) => JSON.stringify(value)).join(", ")}`,
        hint: meant === undefined ? undefined : `did you mean ${JSON.stringify(meant)}?`,
      };
    }
    case "too_small":
      if (issue.origin === "string") return { message: "must not be empty" };
      return { message: `must be at least ${issue.minimum}` };
    case "too_big":
      return { message: `must be at most ${issue.maximum}${issue.origin === "string" ? " characters long" : ""}` };
    case "invalid_key":
      return { message: issue.issues[0]?.message ?? issue.message, at: "key" };
    default:
      return { message: issue.message };
  }
}

function typeText(expected: string): string {
  switch (expected) {
    case "array":
      return "a list";
    case "record":
    case "object":
      return "an object";
    default:
      return `a ${expected}`;
  }
}

function typeOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

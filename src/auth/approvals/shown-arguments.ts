/**
 * Arguments as people see them: secrets are masked, everything else is exactly what was sent. Pure.
 */
import { randomBytes } from "node:crypto";

export interface Masks {
  /** Masks the known secrets in JSON. */
  readonly json: (text: string) => string;
  /** Whether `value` may change something in this JSON. */
  readonly suspects: (json: string) => boolean;
  /** Masks what is named like a secret, or looks like one, in a parsed value. */
  readonly value: (value: unknown) => unknown;
}

/** Marks a number in a string. No client can know it. */
const MARK = randomBytes(12).toString("hex");
const PART = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, "g");

/** `args`: in canonical form. */
export function shownArguments(args: string, masks: Masks): string {
  if (!masks.suspects(args)) return masks.json(args);
  // A number that JavaScript cannot hold would come back as another one.
  const marked = args.replace(PART, (part) =>
    part.startsWith('"') || String(Number(part)) === part ? part : `"${MARK}${part}"`,
  );
  return masks.json(JSON.stringify(masks.value(JSON.parse(marked))).replace(MARKED, "$1"));
}

/** The longest arguments that are kept of a question that is over. */
const LONGEST_KEPT = 16_384;

export function keptArguments(shown: string): string {
  if (shown.length <= LONGEST_KEPT) return shown;
  // A copy: a part of a text keeps the whole text in memory.
  return Buffer.from(`${shown.slice(0, LONGEST_KEPT)}…`).toString();
}

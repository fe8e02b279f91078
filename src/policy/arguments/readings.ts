/**
 * The ways in which a server may read the same arguments. JavaScript reads an integer beyond 2^53
 * as a double, Python exactly. C reads a text up to its first NUL. A URI leads to the same thing in
 * several spellings, and its server decodes it as often as it likes.
 *
 * Invariant: a condition is asked about every reading. A deny and an ask hold if they hold in one,
 * an allow only if it holds in all of them.
 */
import { AmbiguousArguments, type ExactValue, Members } from "../conditions/exact-json.ts";
import type { Item } from "../rule.ts";
import { uriForms } from "../uri-forms.ts";

/** Other texts are not URIs: `C:/Users` is a path, and `Note: done` a text. */
const URI = /^(?:[a-z][a-z0-9+.-]*:\/\/|(?:file|https?|wss?|ftp):)/i;
/** What URL parsers skip, before a URI and inside of it. */
const SKIPPED = /^[\0- ]+|[\t\n\r]+/g;

interface Reader {
  /** How many steps of normalization a URI has behind it. */
  readonly steps: number;
  /** Whether it reads like a program in C or JavaScript: texts to a NUL, integers as doubles. */
  readonly isLossy: boolean;
  readonly formsOf: (text: string) => readonly string[];
}

/** Returns at least the arguments themselves. `kind`: of what they are for. */
export function readingsOf(args: Members, kind: Item["kind"]): readonly Members[] {
  const formsOf = (text: string): readonly string[] => {
    if (kind !== "resource" && !URI.test(text.replace(SKIPPED, ""))) return [text];
    const forms = uriForms(text);
    if (!forms) throw new AmbiguousArguments("a URI can be read in too many ways; write it without nested escapes");
    return forms;
  };
  const readers = readersOf(args, formsOf);
  return readers.length === 1 ? [args] : readers.map((reader) => readAs(args, reader) as Members);
}

function readersOf(args: Members, formsOf: (text: string) => readonly string[]): readonly Reader[] {
  let steps = 1;
  let hasLoss = false;
  const visit = (value: ExactValue): void => {
    if (typeof value === "string") {
      steps = Math.max(steps, formsOf(value).length);
      hasLoss ||= value.includes("\0");
    } else if (typeof value === "bigint") hasLoss ||= asDouble(value) !== value;
    else if (value instanceof Members) for (const inner of value.values()) visit(inner);
    else if (Array.isArray(value)) for (const inner of value) visit(inner);
  };
  visit(args);
  return Array.from({ length: steps }, (_, i) => i).flatMap((i) => {
    const exact = { steps: i, isLossy: false, formsOf };
    return hasLoss ? [exact, { ...exact, isLossy: true }] : [exact];
  });
}

function readAs(value: ExactValue, reader: Reader): ExactValue {
  if (typeof value === "string") {
    const forms = reader.formsOf(value);
    const form = forms[Math.min(reader.steps, forms.length - 1)]!;
    return reader.isLossy ? form.split("\0", 1)[0]! : form;
  }
  if (typeof value === "bigint") return reader.isLossy ? asDouble(value) : value;
  if (value instanceof Members) {
    const read = new Members();
    read.declared = value.declared;
    for (const [key, inner] of value) read.set(key, readAs(inner, reader));
    return read;
  }
  return Array.isArray(value) ? value.map((inner) => readAs(inner, reader)) : value;
}

function asDouble(value: bigint): bigint {
  return BigInt(Number(value));
}

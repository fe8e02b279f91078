/** What to say about a name that does not exist: what was probably meant, else where to look. */
import { nearestWord } from "../../lib/text/nearest/nearest-word.ts";
import { UsageError } from "./usage-error.ts";

/** The parts of the sentence `there is no <kind> "<name>" (<hint>)`. */
export interface Missing {
  readonly kind: "tool" | "prompt" | "resource" | "server" | "profile";
  readonly name: string;
  readonly known: readonly string[];
  /** The hint if no known name is similar. */
  readonly otherwise: string;
}

export function noSuch({ kind, name, known, otherwise }: Missing): UsageError {
  const meant = nearestWord(name, known);
  return new UsageError(
    `there is no ${kind} "${name}" (${meant === undefined ? otherwise : `did you mean "${meant}"?`})`,
  );
}

/** Checks that the profile exists. @throws UsageError if not */
export function requireProfile(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const otherwise = known.length === 0 ? 'the config has no "profiles"' : `there are ${known.join(", ")}`;
  throw noSuch({ kind: "profile", name, known, otherwise });
}

/** Checks that the server exists. @throws UsageError if not */
export function requireServer(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const otherwise = known.length === 0 ? "there are none" : `there are ${known.join(", ")}`;
  throw noSuch({ kind: "server", name, known, otherwise });
}

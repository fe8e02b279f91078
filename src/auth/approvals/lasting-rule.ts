/**
 * The rule that makes an answer hold for good. It is printed, never applied: what is allowed for
 * good stands in the config, where people read it.
 */
import { createHash } from "node:crypto";
import { unambiguous } from "../../lib/json/canonical.ts";
import { writtenName } from "../../policy/who.ts";
import type { ApprovalRecord } from "./record.ts";

/** The longest condition that a config takes. */
const MAX_CONDITION = 4000;

/** Returns undefined if the arguments cannot stand in a config: masked, or too large. */
export function lastingRule({ subject, shown }: Pick<ApprovalRecord, "subject" | "shown">): string | undefined {
  const { principal, app, server, kind, name, digest } = subject;
  const args = canonicalForm(shown);
  if (args === undefined) return undefined;
  const isExact = digest === `sha256:${createHash("sha256").update(args).digest("hex")}`;
  const when = kind === "resource" ? undefined : `args == ${args}`;
  // A half of a character has no literal in CEL.
  if (!isExact || (when !== undefined && (when.length > MAX_CONDITION || /\\ud[89a-f]/i.test(when)))) return undefined;
  const who = {
    ...(principal !== "" && { principals: [writtenName({ id: principal })] }),
    ...(app && { clients: [app] }),
  };
  return JSON.stringify({
    effect: "allow",
    ask: false,
    server,
    [`${kind}s`]: [name],
    ...(Object.keys(who).length > 0 && { who }),
    ...(when !== undefined && { when }),
  });
}

/** @returns undefined if a part of the arguments is not shown */
function canonicalForm(shown: string): string | undefined {
  if (shown === "null") return "{}";
  try {
    JSON.parse(shown);
    return unambiguous(shown);
  } catch {
    return undefined;
  }
}

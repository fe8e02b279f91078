/** Makes the grant that an answer gives: for one key, and for as long as its span says. */
import { randomBytes } from "node:crypto";
import type { ApprovalRecord, Grant, Span } from "./record.ts";

export interface Granting {
  readonly span: Span;
  readonly by: string;
  /** How long a grant for one call holds. */
  readonly onceMs: number;
}

const HOUR_MS = 3_600_000;
/** A session cannot be resumed for longer. */
const SESSION_MS = 7 * 24 * HOUR_MS;

export function grantFor(
  { record, key }: { readonly record: ApprovalRecord; readonly key: string },
  { span, by, onceMs }: Granting,
): Grant {
  const at = Date.now();
  const lasts = { once: onceMs, always: onceMs, hour: HOUR_MS, session: SESSION_MS };
  const uses = span === "hour" || span === "session" ? null : 1;
  const { id: approval, subject } = record;
  const id = randomBytes(5).toString("hex");
  return { id, approval, key, subject, span, by, at, expiresAt: at + lasts[span], uses };
}

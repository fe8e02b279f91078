/** How a call can end, in the words that the metrics, the API and the audit log share. */
export const outcomes = ["ok", "tool-error", "error", "timeout", "cancelled", "unavailable"] as const;

export type Outcome = (typeof outcomes)[number];

/** Whether a call failed. One that its client cancelled did not. */
export function isFailure(outcome: Outcome): boolean {
  return outcome !== "ok" && outcome !== "cancelled";
}

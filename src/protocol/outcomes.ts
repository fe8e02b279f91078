/** How a call can end, in the words that the metrics, the API and the audit log share. */
export const outcomes = ["ok", "tool-error", "error", "timeout", "cancelled", "unavailable"] as const;

export type Outcome = (typeof outcomes)[number];

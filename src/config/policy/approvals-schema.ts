/** The section `approvals` of the config: how people answer for calls that a rule asks about. */
import * as z from "zod";
import { positiveMs } from "../schema/limits.ts";

export const approvalsSchema = z.strictObject({
  timeoutMs: positiveMs
    .default(300_000)
    .describe("How long a call waits for an answer. Then it is refused, and its client is told not to try again."),
  progressMs: positiveMs
    .min(100)
    .default(10_000)
    .describe(
      "How often a client that waits is told so, if it asked for progress. It keeps its own timeout from running out.",
    ),
});
export type ApprovalsConfig = z.output<typeof approvalsSchema>;

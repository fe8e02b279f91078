/** The section `approvals` of the config: how people answer for calls that a rule asks about. */
import * as z from "zod";
import { isLoopback } from "../../lib/text/loopback.ts";
import { positiveMs } from "../schema/limits.ts";

export const approvalsSchema = z.strictObject({
  timeoutMs: positiveMs
    .default(300_000)
    .describe("How long a call waits for an answer. Then it is refused, and its client is told not to try again."),
  trustClients: z
    .array(z.string().min(1))
    .default([])
    .describe(
      "Clients whose own users may allow their calls, if the client can ask them: OAuth clients by id, or names of gateway.auth.clients (oauth:<id> and token:<name> mean one of these alone); * means all. Default: none.",
    ),
  webhook: z
    .strictObject({
      url: z
        .string()
        .refine(
          (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
          "expected an http or https URL",
        )
        .refine(
          (text) => !URL.canParse(text) || new URL(text).protocol !== "http:" || isLoopback(new URL(text).hostname),
          "expected https, or http to this machine",
        )
        .describe("Where to: https, or http on this machine."),
      secret: z.string().min(16, "expected at least 16 characters").describe("Signs each message."),
    })
    .optional()
    .describe("Told of each call that waits, and how that ended. Default: nobody is told."),
});
export type ApprovalsConfig = z.output<typeof approvalsSchema>;

/** The API's schemas of approvals: calls that wait for a person, answers, and what they allow. */
import * as z from "zod";
import { spans } from "../../../auth/approvals/record.ts";
import { replicaName } from "../schema.ts";

const count = z.int().nonnegative();
const time = z.number().nonnegative();
const digest = z.string().describe("sha256: and 64 hex digits, of the arguments that the server would get");

export const ApprovalParams = z.object({ id: z.string().describe("the approval's id") });
export const ApprovalGrantParams = z.object({ id: z.string().describe("the grant's id") });

export const ApprovalRow = z.object({
  id: z.string(),
  state: z.enum(["held", "allowed", "denied", "ended"]).describe("held: the call waits for an answer"),
  who: z.string().nullable().describe("the principal's name; null: the gateway needs no token"),
  app: z.string().nullable().describe("the principal's OAuth client"),
  client: z.string().nullable().describe("what the client calls itself"),
  hasSession: z.boolean().describe("whether it can be allowed for the session"),
  server: z.string(),
  kind: z.enum(["tool", "prompt", "resource"]),
  name: z.string().describe("the server's own name, or the URI"),
  shownName: z.string().describe("as the client knows it"),
  arguments: z.string().describe("the JSON that the server would get, secrets masked; cut in lists"),
  characters: count.describe("the length of the whole arguments, as they are shown"),
  isCut: z.boolean().describe("whether there is more of the arguments"),
  digest,
  bytes: count.describe("the size of the request"),
  rule: z.string().describe("the rules that ask"),
  reason: z.string().nullable().describe("the rule's own words"),
  proposedAt: time.describe("epoch milliseconds, as all times"),
  expiresAt: time.describe("when it ends if nobody answers"),
  by: z.string().nullable().describe("who answered"),
  for: z.enum(spans).nullable().describe("how long it was allowed for"),
  answeredAt: time.nullable(),
  words: z.string().nullable().describe("the text for the client, from the person who denied it"),
  ended: z
    .enum(["timeout", "cancelled", "shutdown", "restart"])
    .nullable()
    .describe("why nobody answers any more; the call was not run"),
  runs: count.describe("how often calls were run because of the answer"),
  outcome: z.string().nullable().describe("how the last of them ended; unknown while it runs"),
  replica: replicaName,
});
export type ApprovalRow = z.infer<typeof ApprovalRow>;

export const ApprovalGrantRow = z.object({
  id: z.string(),
  approval: z.string().describe("the approval that was answered"),
  who: z.string().nullable(),
  client: z.string().nullable(),
  server: z.string(),
  shownName: z.string(),
  digest,
  for: z.enum(spans),
  by: z.string(),
  createdAt: time,
  expiresAt: time,
  uses: count.nullable().describe("how many calls it still allows; null: any number"),
  replica: replicaName,
});
export type ApprovalGrantRow = z.infer<typeof ApprovalGrantRow>;

const expect = z.string().optional().describe("the digest that was shown: with another one, the answer does not count");

export const AllowRequest = z.object({
  for: z.enum(spans).default("once").describe("always: this call only, and the answer has the rule to add"),
  expect,
});
export type AllowRequest = z.output<typeof AllowRequest>;

export const DenyRequest = z.object({
  reason: z.string().min(1).max(500).optional().describe("told to the client"),
  expect,
});
export type DenyRequest = z.output<typeof DenyRequest>;

export const Allowed = z.object({
  approval: ApprovalRow,
  grant: ApprovalGrantRow,
  rule: z
    .string()
    .nullable()
    .describe("for always: the rule to add to policy.rules, in JSON; null: the arguments cannot stand in a config"),
});

/** What can be asked about one thing that the gateway offers, and what the answer says. */
import * as z from "zod";
import { ServerStateSchema } from "../schema.ts";

const line = z.int().positive().nullable().describe("in the config file; null if it is not there");

export const ExplainRequest = z.object({
  name: z.string().min(1).describe("a tool, prompt or URI as listed, or server/name with the server's own name"),
  as: z.string().optional().describe("a name of gateway.auth.clients, or issuer and subject with a space between"),
  groups: z.array(z.string()).optional(),
  scopes: z.array(z.string()).optional(),
  client: z.string().optional().describe("the OAuth client"),
  profile: z.string().optional().describe("at the endpoint of this profile"),
  arguments: z.record(z.string(), z.unknown()).optional().describe("of the call"),
});
export type ExplainRequest = z.infer<typeof ExplainRequest>;

export const ExplainResult = z.object({
  kind: z.enum(["tool", "prompt", "resource", "template"]),
  name: z.string().describe("as clients see it"),
  originalName: z.string().describe("as the server calls it"),
  serverId: z.string(),
  listed: z.boolean().describe("whether its list shows it to this principal"),
  why: z.string().describe("why it is listed or not"),
  visible: z.boolean().describe("false: for this principal it does not exist"),
  effect: z.enum(["allow", "ask", "deny"]).describe("what the rules say about a call with these arguments"),
  decidedBy: z.string().nullable().describe("the rule that decided; null: policy.default, or a profile"),
  refusal: z.string().nullable().describe("what the client is told"),
  arguments: z.unknown().describe("what the server gets; null if the call is refused"),
  config: z.string().nullable().describe("the file that the lines refer to"),
  rules: z
    .array(
      z.object({
        id: z.string(),
        effect: z.enum(["allow", "ask", "deny"]),
        line,
        when: z.string().nullable().describe("its condition"),
        holds: z.boolean().nullable().describe("whether its condition holds; null if it has none"),
        problem: z.string().nullable().describe("why its condition cannot be evaluated"),
      }),
    )
    .describe("the rules that match, in the order of the config"),
  timeout: z.object({
    ms: z.number().describe("for one call, unless progress arrives"),
    from: z.string().describe("the key of the config"),
    line,
    maxMs: z.number().describe("for one call in any case (timeouts.maxCallMs)"),
  }),
  results: z.string().nullable().describe("what becomes of its results; null for what is no tool"),
  state: ServerStateSchema.describe("of the server"),
  reason: z.string().nullable().describe("why the server is not ready"),
  breaker: z.object({
    open: z.boolean().describe("calls are refused at once"),
    failures: z.int().nonnegative().describe("transport failures in a row"),
    retryInMs: z.number().nonnegative().describe("until a call is tried again"),
  }),
  calls: z.int().nonnegative(),
  errors: z.int().nonnegative(),
  lastErrors: z
    .array(z.object({ time: z.number(), code: z.union([z.string(), z.number()]), requestId: z.string() }))
    .describe("the newest last"),
  tokens: z.int().nonnegative().nullable().describe("of its definition; null for what is no tool"),
});
export type ExplainResult = z.infer<typeof ExplainResult>;

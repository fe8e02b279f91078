/** The section `policy` of the config: who may use what, and with which arguments. */
import * as z from "zod";

const MAX_RULES = 10_000;
const MAX_PATTERN = 500;
const MAX_REASON = 500;

const pattern = z.string().min(1).max(MAX_PATTERN);
const patterns = z.array(pattern).min(1);

const whoSchema = z.strictObject({
  principals: patterns
    .optional()
    .describe("Names of gateway.auth.clients, or an issuer and a subject with a space between."),
  groups: patterns.optional().describe("Groups of the access token."),
  clients: patterns
    .optional()
    .describe(
      "OAuth clients by id, or names of gateway.auth.clients; oauth:<id> and token:<name> mean one of these alone.",
    ),
  scopes: patterns.optional().describe("Scopes of the access token."),
});

const ruleSchema = z.strictObject({
  id: z.string().min(1).max(100).optional().describe("A name for the rule, for the audit file and goblin explain."),
  effect: z
    .enum(["allow", "ask", "deny"])
    .describe(
      "Deny beats ask, and ask beats allow, whatever the order of the rules. With ask, a call waits until a person allows it ([approvals](approvals.md)).",
    ),
  ask: z
    .literal(false)
    .optional()
    .describe("With allow: nobody is asked about what the rule matches, whatever other rules say."),
  reason: z
    .string()
    .min(1)
    .max(MAX_REASON)
    .optional()
    .describe("Told to a client whose call `when` refuses, and to the person who is asked."),
  server: z
    .union([pattern, patterns])
    .optional()
    .describe("The servers, by id. Default: all, or the one that a pattern for tools or prompts names."),
  tools: patterns
    .optional()
    .describe(
      "Tools by the names that their server gives them, as server/name, or by annotation: @readOnly, @destructive, @idempotent, @openWorld.",
    ),
  prompts: patterns.optional().describe("Prompts by the names that their server gives them."),
  resources: patterns
    .optional()
    .describe(
      "Resources and templates by their server's URIs. Without tools, prompts and resources, a rule is about everything.",
    ),
  who: whoSchema
    .extend({ not: whoSchema.optional().describe("Those that the rule does not concern.") })
    .optional()
    .describe("Whom the rule concerns; each list that is given must match. Default: everybody."),
  when: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A condition in CEL over args, who and tool. It is checked at each call; an error denies the call, or asks.",
    ),
  set: z
    .record(z.string(), z.json())
    .optional()
    .describe("Arguments that get this value, whatever the client sends. Clients do not see them."),
  hide: patterns.optional().describe("Arguments that clients do not see, and that are removed if sent."),
});

export const policySchema = z.strictObject({
  default: z.enum(["allow", "deny"]).default("allow").describe("What holds for what no rule allows or denies."),
  rules: z.array(ruleSchema).max(MAX_RULES).default([]).describe("The rules ([policy](policy.md))."),
});
export type PolicyConfig = z.output<typeof policySchema>;

/** What the admin API says about access: profiles, rules, and what a principal sees. */
import * as z from "zod";
import { ExplainRequest } from "../explain/schema.ts";

const count = z.int().nonnegative();
const line = z.int().positive().nullable().describe("in the config file; null if it is not there");
const patterns = z.object({ allow: z.array(z.string()), deny: z.array(z.string()) });

export const ProfileRow = z.object({
  name: z.string(),
  endpoint: z.string().describe("the path of its endpoint, such as /mcp/p/research"),
  line,
  servers: z.array(z.string()).describe("patterns of servers' ids"),
  tools: patterns,
  prompts: patterns,
  resources: patterns,
  expose: z.enum(["all", "search", "auto"]).nullable().describe("how it lists tools; null: as tools.expose says"),
  clients: z.array(z.string()).describe("the names of gateway.auth.clients that are tied to it"),
  scopes: z.array(z.string()).describe("scopes of access tokens that have it"),
  groups: z.array(z.string()).describe("groups of access tokens that have it"),
});
export type ProfileRow = z.infer<typeof ProfileRow>;

export const RuleRow = z.object({
  id: z.string().describe("its id, or its place in the config"),
  effect: z.enum(["allow", "ask", "deny"]),
  line,
  rule: z.record(z.string(), z.unknown()).describe("as the config has it, secrets masked"),
});
export type RuleRow = z.infer<typeof RuleRow>;

export const AccessState = z.object({
  config: z.string().nullable().describe("the file that the lines refer to"),
  default: z.enum(["allow", "deny"]).describe("what holds where no rule matches (policy.default)"),
  rules: z.array(RuleRow).describe("in the order of the config; deny beats ask, and ask beats allow"),
  profiles: z.array(ProfileRow),
  clients: z
    .array(z.object({ name: z.string(), profiles: z.array(z.string()).nullable(), admin: z.boolean() }))
    .describe("the named tokens; profiles null: not limited"),
  issuers: z.array(z.string()).describe("whose access tokens are accepted"),
  tokens: z.boolean().describe("whether clients need a credential"),
  pairing: z.boolean().describe("whether a person can let clients in with a code"),
});
export type AccessState = z.infer<typeof AccessState>;

export const ViewRequest = ExplainRequest.omit({ name: true, arguments: true });
export type ViewRequest = z.infer<typeof ViewRequest>;

export const ViewedEntry = z.object({
  kind: z.enum(["tool", "prompt", "resource", "template"]),
  name: z.string().describe("as clients see it"),
  serverId: z.string(),
  visible: z.boolean().describe("false: for this principal it does not exist"),
  listed: z.boolean().describe("whether its list shows it"),
  effect: z
    .enum(["allow", "ask", "deny", "depends"])
    .describe("what becomes of a call; depends: rules look at its arguments"),
  rules: z.array(z.string()).describe("the rules that match it, in the order of the config"),
  why: z.string().describe("why it is listed or not"),
});
export type ViewedEntry = z.infer<typeof ViewedEntry>;

export const PrincipalView = z.object({
  endpoint: z.string().describe("the path of the endpoint that was asked about"),
  exists: z.boolean().describe("false: the endpoint does not exist for this principal"),
  why: z.string().describe("what limits the principal here, in words"),
  profile: z.string().nullable().describe("the profiles that limit what it sees, joined by commas"),
  rules: z.array(z.string()).describe("the rules that concern this principal"),
  counts: z.object({ visible: count, hidden: count, asked: count.describe("visible, but a person is asked first") }),
  items: z.array(ViewedEntry),
});
export type PrincipalView = z.infer<typeof PrincipalView>;

/** The config of profiles: named parts of the catalog, each with an endpoint of its own. */
import * as z from "zod";
import { annotationNames, isAnnotation } from "../../policy/annotations.ts";

export const profileName = z.string().regex(/^[\w.-]{1,64}$/, "expected a name of letters, digits and . _ -");

const glob = z.string().min(1);
const toolPattern = glob.refine(
  (text) => !text.startsWith("@") || isAnnotation(text),
  `unknown annotation: expected one of ${annotationNames.join(", ")}`,
);

function patterns(pattern: z.ZodString, what: string) {
  return z.strictObject({
    allow: z.array(pattern).default(["*"]).describe(`Patterns of the ${what} to show.`),
    deny: z.array(pattern).default([]).describe(`Patterns of ${what} to hide; deny wins over allow.`),
  });
}

const profileSchema = z.strictObject({
  servers: z.array(glob).default(["*"]).describe("Ids of servers; `*` stands for any characters."),
  tools: patterns(toolPattern, "tools")
    .prefault({})
    .describe(
      "Patterns for the servers' own names of tools, `server/name`, or @readOnly, @destructive, @idempotent, @openWorld.",
    ),
  prompts: patterns(glob, "prompts").prefault({}).describe("Patterns for the servers' own names of prompts."),
  resources: patterns(glob, "resources")
    .prefault({})
    .describe("Patterns for the servers' own URIs of resources and templates."),
  expose: z.enum(["all", "search", "auto"]).optional().describe("Replaces `tools.expose` in this profile."),
});
export type ProfileConfig = z.output<typeof profileSchema>;

export const profilesSchema = z
  .record(profileName, profileSchema)
  .default({})
  .describe("Parts of what the gateway offers, each at /mcp/p/<name> ([access](access.md#profiles)).");
export type ProfilesConfig = z.output<typeof profilesSchema>;

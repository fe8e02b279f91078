/**
 * The config's sections about results: what becomes of those that are too long, which fields they
 * keep. Settings of a tool replace those of the gateway, key by key.
 */
import * as z from "zod";
import { compilePatterns, PatternSyntaxError } from "../../lib/json/bytes/field-patterns.ts";
import { isPlain, type ResultRules } from "../../mcp/protocol/results/result-rules.ts";

const fieldPattern = z.string().superRefine((pattern, context) => {
  try {
    compilePatterns([pattern]);
  } catch (error) {
    if (!(error instanceof PatternSyntaxError)) throw error;
    context.addIssue({ code: "custom", message: `${error.message}; write it like items[].{id,title} or **.html` });
  }
});

const over = z.enum(["pass", "spill", "cut", "error"]);
const tokens = z.int().min(16);

/** The keys of one tool. */
export const resultRulesSchema = z.strictObject({
  over: over.optional().describe("Replaces results.over."),
  maxTokens: tokens.optional().describe("Replaces results.maxTokens."),
  pick: z
    .array(fieldPattern)
    .optional()
    .describe('The fields of JSON results that are kept, such as "items[].{id,title}"; [] keeps all.'),
  drop: z.array(fieldPattern).optional().describe('The fields of JSON results that are left out, such as "**.html".'),
});
export type OwnResultRules = z.output<typeof resultRulesSchema>;

export const resultsSchema = z.strictObject({
  over: over
    .default("pass")
    .describe(
      'What becomes of a result that is longer than maxTokens: "pass" changes nothing; "spill" keeps it and answers with a preview and a link; "cut" sends its beginning; "error" sends an error instead.',
    ),
  maxTokens: tokens.default(20_000).describe("The longest result, in estimated tokens of its text."),
});
export type ResultsConfig = z.output<typeof resultsSchema>;

/** Returns undefined if results are passed on as they are. */
export function rulesFrom(
  { over, maxTokens }: Pick<ResultsConfig, "over" | "maxTokens">,
  own: OwnResultRules = {},
): ResultRules | undefined {
  const rules = {
    over: own.over ?? over,
    maxTokens: own.maxTokens ?? maxTokens,
    pick: own.pick ?? [],
    drop: own.drop ?? [],
  };
  return isPlain(rules) ? undefined : rules;
}

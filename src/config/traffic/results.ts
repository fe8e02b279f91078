/**
 * The config's sections about results: what becomes of those that are too long, which fields they
 * keep, and how long kept ones are there. Settings of a tool go before those of its server, and
 * these before those of the gateway, key by key.
 */
import * as z from "zod";
import { compilePatterns, PatternSyntaxError } from "../../lib/json/bytes/field-patterns.ts";
import { isPlain, type ResultRules } from "../../mcp/protocol/results/result-rules.ts";
import { countFromOne, positiveMs } from "../schema/limits.ts";

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

/** The same keys for a server and for a tool. */
export const resultRulesSchema = z.strictObject({
  over: over.optional().describe("Replaces results.over."),
  maxTokens: tokens.optional().describe("Replaces results.maxTokens."),
  preview: tokens.optional().describe("Replaces results.preview."),
  pick: z
    .array(fieldPattern)
    .optional()
    .describe('The fields of JSON results that are kept, such as "items[].{id,title}"; [] keeps all.'),
  drop: z.array(fieldPattern).optional().describe('The fields of JSON results that are left out, such as "**.html".'),
  compact: z.boolean().optional().describe("Replaces results.compact."),
  dedupe: z.boolean().optional().describe("Replaces results.dedupe."),
});
export type OwnResultRules = z.output<typeof resultRulesSchema>;

export const resultsSchema = z.strictObject({
  over: over
    .default("pass")
    .describe(
      'What becomes of a result that is longer than maxTokens: "pass" changes nothing; "spill" keeps it and answers with a preview and a link; "cut" sends its beginning; "error" sends an error instead.',
    ),
  maxTokens: tokens.default(20_000).describe("The longest result, in estimated tokens of its text."),
  preview: tokens.default(800).describe("How much of a kept result is shown, in estimated tokens."),
  compact: z.boolean().default(false).describe("Whether JSON in results is sent without spaces between its tokens."),
  dedupe: z
    .boolean()
    .default(false)
    .describe("Whether text is left out of results that repeats their structured content."),
  ttlMs: positiveMs.default(3_600_000).describe("How long a result is kept."),
  memoryBytes: z
    .int()
    .min(0)
    .default(16_777_216)
    .describe("Kept results in memory, of all clients together; further ones go to files in the state folder."),
  keptBytes: countFromOne
    .default(1_073_741_824)
    .describe(
      "Kept results of all clients together, in memory and files. One account may hold half of what the others leave; its own oldest results go first.",
    ),
});
export type ResultsConfig = z.output<typeof resultsSchema>;

/** Returns undefined if results are passed on as they are. */
export function rulesFrom(
  common: ResultsConfig,
  ...own: readonly (OwnResultRules | undefined)[]
): ResultRules | undefined {
  const { maxTokens, preview, compact, dedupe } = common;
  const rules = { over: common.over, maxTokens, preview, compact, dedupe, pick: [], drop: [] };
  const merged: ResultRules = Object.assign(rules, ...own.map(present));
  return isPlain(merged) ? undefined : merged;
}

function present(rules: OwnResultRules = {}): OwnResultRules {
  return Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== undefined));
}

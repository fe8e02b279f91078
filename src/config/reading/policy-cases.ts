/** Reads the cases of `goblin policy test`: JSON with comments, checked like a config. */
import { parse, parseTree } from "jsonc-parser";
import * as z from "zod";
import { offsetOf, placeOf } from "../problems/locate.ts";

const names = z.array(z.string());

const caseSchema = z
  .strictObject({
    name: z.string().optional(),
    as: z
      .union([
        z.string(),
        z.strictObject({
          principal: z.string().optional(),
          groups: names.optional(),
          client: z.string().optional(),
          scopes: names.optional(),
        }),
      ])
      .optional(),
    server: z.string().optional(),
    tool: z.string().optional(),
    prompt: z.string().optional(),
    resource: z.string().optional(),
    annotations: z.record(z.string(), z.unknown()).optional(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    expect: z.enum(["allow", "ask", "deny"]),
    visible: z.boolean().optional(),
    rule: z.string().optional(),
    sent: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(({ tool, prompt, resource }) => [tool, prompt, resource].filter((one) => one !== undefined).length === 1, {
    error: "a case names one tool, prompt or resource",
  })
  .refine(({ server, resource }) => server !== undefined || resource === undefined, {
    error: 'a case with "resource" needs "server"',
  });
export type PolicyCase = z.output<typeof caseSchema>;

const fileSchema = z.strictObject({ cases: z.array(caseSchema).min(1) });

export interface CaseProblem {
  readonly line: number;
  readonly message: string;
}

/** The text must be JSON. */
export function readCases(
  text: string,
): { readonly cases: readonly PolicyCase[] } | { readonly problems: readonly CaseProblem[] } {
  const read = fileSchema.safeParse(parse(text, [], { allowTrailingComma: true }));
  if (read.success) return { cases: read.data.cases };
  const root = parseTree(text);
  return {
    problems: read.error.issues.map(({ path, message }) => ({
      line: placeOf(text, offsetOf(root, path as (string | number)[], "value")).line,
      message: path.length === 0 ? message : `${path.join(".")}: ${message}`,
    })),
  };
}

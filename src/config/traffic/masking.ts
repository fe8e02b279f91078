/**
 * The config's section about keys and tokens in arguments and results, and a server's part of it.
 */
import * as z from "zod";
import { SECRET_FORMATS } from "../../lib/text/secrets/formats.ts";

export const maskingSchema = z.strictObject({
  arguments: z.boolean().default(false).describe("Whether servers get arguments with keys and tokens masked."),
  results: z.boolean().default(false).describe("Whether clients get results with keys and tokens masked."),
  except: z
    .array(z.enum(SECRET_FORMATS))
    .default([])
    .describe("Formats that are not masked. The gateway's own secrets always are."),
});
export type MaskingConfig = z.output<typeof maskingSchema>;

export const serverMaskingSchema = z.strictObject({
  arguments: z.boolean().optional().describe("Replaces masking.arguments."),
  results: z.boolean().optional().describe("Replaces masking.results."),
});
export type ServerMasking = z.output<typeof serverMaskingSchema>;

export interface MaskedSides {
  readonly arguments: boolean;
  readonly results: boolean;
}

/** Returns undefined if nothing is masked. */
export function sidesOf(common: MaskingConfig, own: ServerMasking = {}): MaskedSides | undefined {
  const sides = { arguments: own.arguments ?? common.arguments, results: own.results ?? common.results };
  return sides.arguments || sides.results ? sides : undefined;
}

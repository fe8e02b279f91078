/**
 * Estimates the token cost of a tool's definition, once per definition.
 */
import { estimateTokens } from "../../lib/text/token-estimate.ts";

const counted = new WeakMap<object, number>();

/** Returns the estimated tokens of a catalog entry or a definition. */
export function toolTokens(tool: { readonly text: string }): number {
  const known = counted.get(tool);
  if (known !== undefined) return known;
  const tokens = estimateTokens(tool.text);
  counted.set(tool, tokens);
  return tokens;
}

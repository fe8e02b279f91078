/**
 * What the definition of a tool costs a model, estimated once for each definition and kept as long
 * as it lives.
 */
import { estimateTokens } from "../text/token-estimate.ts";

const counted = new WeakMap<object, number>();

/** Takes an entry of the catalog or a definition: whatever holds the JSON that clients see. */
export function toolTokens(tool: { readonly text: string }): number {
  const known = counted.get(tool);
  if (known !== undefined) return known;
  const tokens = estimateTokens(tool.text);
  counted.set(tool, tokens);
  return tokens;
}

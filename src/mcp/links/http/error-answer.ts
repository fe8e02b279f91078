/** Finds a JSON-RPC error in the body of an HTTP refusal. */
import { setMember } from "../../../lib/json/json-text.ts";

/**
 * Returns the error answer with the request's id, or undefined if the text is not one. Servers
 * often send `"id":null`.
 */
export function errorAnswerIn(text: string, id: number): Buffer | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("error" in value) || !("jsonrpc" in value)) return undefined;
    return Buffer.from(setMember(text, "id", String(id)));
  } catch {
    return undefined;
  }
}

/**
 * Masks arguments for the audit log, and messages for recordings: values that are named like a
 * secret, or look like one, are replaced. Pure.
 */
import { holdsSecret, LIKELY_PREFIXES } from "../../lib/text/secrets/formats.ts";
import { isSecretName, NAME_PARTS } from "../../lib/text/secrets/names.ts";

const MASK = "***";
const MAX_DEPTH = 20;

/** Whether a JSON text may hold something to mask. Cheap, and never wrong about a no. */
export function mayHoldSecret(json: string): boolean {
  return NAME_PARTS.test(json) || LIKELY_PREFIXES.test(json);
}

export function masked(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return holdsSecret(value) ? MASK : withinText(value, depth);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return MASK;
  if (Array.isArray(value)) return value.map((element) => masked(element, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, element]) => [
      key,
      isSecret(key, element) ? MASK : key === "properties" ? declared(element, depth + 1) : masked(element, depth + 1),
    ]),
  );
}

/** Tools often give their result as JSON in a text: values named like a secret count there too. */
function withinText(text: string, depth: number): string {
  if (!/^\s*[[{]/.test(text) || !mayHoldSecret(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    const safe = JSON.stringify(masked(value, depth + 1));
    return safe === JSON.stringify(value) ? text : safe;
  } catch {
    return text;
  }
}

/** The token of a progress notification is no credential, and a number of tokens is a number. */
function isSecret(name: string, value: unknown): boolean {
  if (!isSecretName(name) || name === "progressToken") return false;
  return typeof value !== "number" || !/tokens$/i.test(name);
}

/** In a JSON Schema, the names of properties are no secrets' names: their values are schemas. */
function declared(properties: unknown, depth: number): unknown {
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) {
    return masked(properties, depth);
  }
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      typeof schema === "object" && schema !== null
        ? masked(schema, depth + 1)
        : isSecret(name, schema)
          ? MASK
          : masked(schema, depth + 1),
    ]),
  );
}

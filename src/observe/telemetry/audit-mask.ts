/**
 * Masks arguments for the audit log, and messages for recordings: values that are named like a
 * secret, or look like one, are replaced. Pure.
 */
const SECRET_NAME =
  /pass(word|wd|phrase)?$|^pwd$|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|authorization|credential|cookie|^auth$/i;
const SECRET_VALUE =
  /\bBearer\s+\S+|\b(sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|goblin)[-_][A-Za-z0-9_-]{10,}|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.|-----BEGIN [A-Z ]*PRIVATE KEY-----/;
/** What JSON has in it if anything in it is masked. Escapes may spell anything. */
const SUSPECT =
  /pass|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|auth|credential|cookie|bearer|(?:sk|pk|rk|ghp|gho|ghs|_pat|glpat|xox[abprs]|goblin)[-_]|eyJ|PRIVATE KEY|\\u|\\\//i;
const MASK = "***";
const MAX_DEPTH = 20;

/** Whether values of this name are masked. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Whether a JSON text may hold something to mask. Cheap, and never wrong about a no. */
export function mayHoldSecret(json: string): boolean {
  return SUSPECT.test(json);
}

export function masked(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return SECRET_VALUE.test(value) ? MASK : withinText(value, depth);
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
  if (!/^\s*[[{]/.test(text) || !SUSPECT.test(text)) return text;
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
  if (!SECRET_NAME.test(name) || name === "progressToken") return false;
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

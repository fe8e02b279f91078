/**
 * Masks arguments for the audit log: values that are named like a secret, or look like one, are
 * replaced. Pure.
 */
const SECRET_NAME =
  /pass(word|wd|phrase)?$|^pwd$|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|authorization|credential|cookie|^auth$/i;
const SECRET_VALUE =
  /\bBearer\s+\S+|\b(sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const MASK = "***";
const MAX_DEPTH = 20;

/** Whether values of this name are masked. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

export function masked(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return SECRET_VALUE.test(value) ? MASK : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return MASK;
  if (Array.isArray(value)) return value.map((element) => masked(element, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, element]) => [key, SECRET_NAME.test(key) ? MASK : masked(element, depth + 1)]),
  );
}

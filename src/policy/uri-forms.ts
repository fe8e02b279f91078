/**
 * The forms of a URI that a server may take for the same resource: as it is written, and plain.
 * In the plain form, escapes are decoded, dots and repeated slashes are resolved, and scheme and
 * host are in lower case.
 *
 * Invariant: a URI whose escapes do not end within a few rounds has no plain form that can be
 * trusted; each round is then a form of its own.
 */
const ROUNDS = 4;
const HEAD = /^([a-z][a-z0-9+.-]*:)?(\/\/[^/?#]*)?/i;

export function uriForms(uri: string): readonly string[] {
  if (!/[%\\A-Z]|\/[./]/.test(uri)) return [uri];
  const forms = new Set([uri]);
  let decoded = uri;
  for (let round = 0; round < ROUNDS; round++) {
    const next = decodedOnce(decoded);
    forms.add(resolved(next));
    if (next === decoded) break;
    decoded = next;
  }
  return [...forms];
}

/** The plain form of a pattern, so that it matches the plain form of what it was written for. */
export function plainPattern(pattern: string): string {
  return resolved(decodedOnce(pattern));
}

/** Decodes the escapes that are valid UTF-8, each for itself. */
function decodedOnce(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes.replace(/%[0-7][0-9a-f]/gi, (one) => decodeURIComponent(one));
    }
  });
}

function resolved(uri: string): string {
  const text = uri.replaceAll("\\", "/");
  const head = HEAD.exec(text)![0];
  const rest = text.slice(head.length);
  const end = rest.search(/[?#]/);
  const path = end === -1 ? rest : rest.slice(0, end);
  return head.toLowerCase() + withoutDots(path) + (end === -1 ? "" : rest.slice(end));
}

function withoutDots(path: string): string {
  const kept: string[] = [];
  const steps = path.split("/");
  for (const [i, step] of steps.entries()) {
    const isLast = i === steps.length - 1;
    if (step === "..") kept.pop();
    else if (step !== "." && step !== "") kept.push(step);
    if (isLast && kept.length > 0 && (step === "" || step === "." || step === "..")) kept.push("");
  }
  return (path.startsWith("/") ? "/" : "") + kept.join("/");
}

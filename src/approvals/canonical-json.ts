/**
 * The canonical form of a JSON text: members sorted by name, strings with as few escapes as there
 * can be, no space. Numbers stay as they are written: `1` and `1.0` are two texts, and an integer
 * of any length keeps its digits.
 *
 * Invariant: two texts have the same form only if every reader finds the same values in both. An
 * object in which a member comes twice has no form.
 */

/** Thrown for a text without a canonical form. */
export class NotCanonical extends Error {}

const MAX_DEPTH = 500;
const TOKEN = /[ \t\r\n]*(?:([{}[\]:,])|("(?:[^"\\]|\\.)*")|(-?[0-9][0-9.eE+-]*|true|false|null))/y;

/** The text must be JSON. @throws NotCanonical */
export function canonicalJson(text: string): string {
  let at = 0;
  const next = (): string => {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match) throw new NotCanonical("this is not JSON");
    at = TOKEN.lastIndex;
    return match[1] ?? match[2] ?? match[3]!;
  };
  const readValue = (token: string, depth: number): string => {
    if (depth > MAX_DEPTH) throw new NotCanonical("it is nested too deeply");
    if (token === "{") return objectAt(depth + 1);
    if (token === "[") return listAt(depth + 1);
    return token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
  };
  const objectAt = (depth: number): string => {
    const members = new Map<string, string>();
    let token = next();
    while (token !== "}") {
      if (token === ",") token = next();
      const key = JSON.parse(token) as string;
      if (members.has(key)) throw new NotCanonical(`${JSON.stringify(key)} appears twice in an object`);
      next();
      members.set(key, readValue(next(), depth));
      token = next();
    }
    const sorted = [...members].sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${sorted.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`;
  };
  const listAt = (depth: number): string => {
    const elements: string[] = [];
    let token = next();
    while (token !== "]") {
      if (token === ",") token = next();
      elements.push(readValue(token, depth));
      token = next();
    }
    return `[${elements.join(",")}]`;
  };
  return readValue(next(), 0);
}

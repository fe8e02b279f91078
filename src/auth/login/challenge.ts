/**
 * Reads the challenge in a server's refusal (`WWW-Authenticate`, RFC 9110 and RFC 6750).
 */

export interface Challenge {
  /** The address of the server's metadata. */
  readonly resourceMetadata: string | undefined;
  readonly scopes: readonly string[];
  /** For example `invalid_token` or `insufficient_scope`. */
  readonly error: string | undefined;
}

const MAX_LENGTH = 8192;
const PART = /\s*(?:,\s*)*(?:([!#$%&'*+.^_`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|([!#$%&'*+.^_`|~\w-]+))/y;

/**
 * Returns the challenge of the scheme `Bearer`; undefined if there is none. Of several, the first
 * that names the server's metadata counts, else the first. `header`: all headers of that name,
 * joined with commas.
 */
export function readChallenge(header: string | undefined): Challenge | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  const found: Map<string, string>[] = [];
  let fields: Map<string, string> | undefined;
  PART.lastIndex = 0;
  for (let part = PART.exec(header); part; part = PART.exec(header)) {
    const [, name, quoted, token, word] = part;
    if (word !== undefined) {
      fields = word.toLowerCase() === "bearer" ? new Map() : undefined;
      if (fields) found.push(fields);
    } else if (fields && !fields.has(name!.toLowerCase())) {
      fields.set(name!.toLowerCase(), quoted?.replace(/\\(.)/g, "$1") ?? token ?? "");
    }
  }
  const best = found.find((one) => one.has("resource_metadata")) ?? found[0];
  return best && challengeOf(best);
}

function challengeOf(fields: ReadonlyMap<string, string>): Challenge {
  return {
    resourceMetadata: fields.get("resource_metadata"),
    scopes: (fields.get("scope") ?? "").split(" ").filter((scope) => scope !== ""),
    error: fields.get("error"),
  };
}

/** The endpoints of this gateway, as tokens can be asked for (RFC 8707). */
import { OAuthProblem } from "./oauth-problem.ts";

export class Resources {
  /** Every spelling that a token's audience may have. */
  readonly all: readonly string[];
  readonly #main: string;

  constructor(issuer: string) {
    this.#main = `${issuer}/mcp`;
    this.all = [this.#main, `${this.#main}/`, issuer, `${issuer}/`, `${issuer}/sse`];
  }

  /** Returns the endpoint that a request names. Throws if it is not one of this gateway. */
  named(given: readonly string[]): string {
    const [first = this.#main, ...others] = given;
    if (others.length === 0 && this.all.includes(normalized(first))) return normalized(first);
    throw new OAuthProblem("invalid_target", "resource is not an endpoint of this gateway");
  }
}

/** Scheme and host in lower case; everything else as given. */
function normalized(text: string): string {
  if (!URL.canParse(text)) return text;
  const { origin } = new URL(text);
  return text.toLowerCase().startsWith(origin) ? origin + text.slice(origin.length) : text;
}

/** The endpoints of this gateway, as tokens can be asked for (RFC 8707). */
import { OAuthProblem } from "./oauth-problem.ts";

export interface NamedResource {
  /** The audience of the tokens. They are for the gateway as a whole; the grant limits them. */
  readonly resource: string;
  /** The profile whose endpoint was named. */
  readonly profile: string | undefined;
  /** The server whose endpoint was named. It may not exist: strangers must not learn which do. */
  readonly server: string | undefined;
}

/** An endpoint for one profile or one server. */
const ENDPOINT = /^\/(?:mcp|sse)\/([ps])\/([^/?#]+)\/?$/;

export class Resources {
  /** Every audience that a token may have. */
  readonly all: readonly string[];
  readonly #base: string;
  readonly #main: string;
  readonly #profiles: () => readonly string[];

  constructor(issuer: string, profiles: () => readonly string[]) {
    this.#base = issuer;
    this.#main = `${issuer}/mcp`;
    this.all = [this.#main, `${this.#main}/`, issuer, `${issuer}/`, `${issuer}/sse`];
    this.#profiles = profiles;
  }

  /** Returns the endpoint that a request names. Throws if it is not one of this gateway. */
  named(given: readonly string[]): NamedResource {
    const [first = this.#main, ...others] = given;
    const resource = normalized(first);
    if (others.length === 0) {
      if (this.all.includes(resource)) return { resource, profile: undefined, server: undefined };
      const [, kind, name] =
        ENDPOINT.exec(resource.startsWith(this.#base) ? resource.slice(this.#base.length) : "") ?? [];
      const profile = this.#profiles().find((one) => kind === "p" && name === encodeURIComponent(one));
      const server = kind === "s" ? decoded(name!) : undefined;
      if ((server ?? profile) !== undefined) return { resource: this.#main, profile, server };
    }
    throw new OAuthProblem("invalid_target", "resource is not an endpoint of this gateway");
  }
}

/** Returns undefined if the text is not a part of a path. */
function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** Scheme and host in lower case; everything else as given. */
function normalized(text: string): string {
  if (!URL.canParse(text)) return text;
  const { origin } = new URL(text);
  return text.toLowerCase().startsWith(origin) ? origin + text.slice(origin.length) : text;
}

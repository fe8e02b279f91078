/**
 * An OAuth issuer's metadata (RFC 8414, then OpenID Connect Discovery).
 *
 * It is read once for all that need it, and again after an hour. After a failure nobody asks again
 * for a few seconds, so that a flood of tokens is no flood of requests; what was read before stays
 * good meanwhile. Answers are bounded in size and time, redirects are not followed, and metadata
 * counts only if it names the issuer that it was asked for.
 */

import { readBounded } from "../../lib/http-client/read-bounded.ts";
import { metadataPlaces } from "../../lib/text/metadata-places.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;
const FRESH_MS = 3_600_000;
const COOL_DOWN_MS = 5000;

/** The issuer did not answer as it should: the token is neither good nor bad. */
export class Unavailable extends Error {}

export type Metadata = Readonly<Record<string, unknown>>;

export class IssuerMetadata {
  readonly #issuer: string;
  readonly #now: () => number;
  #known: Metadata | undefined;
  #failure: unknown;
  #nextAt = Number.NEGATIVE_INFINITY;
  #running: Promise<Metadata> | undefined;

  constructor(issuer: string, now: () => number) {
    this.#issuer = issuer;
    this.#now = now;
  }

  /** Rejects with `Unavailable`. */
  async read(): Promise<Metadata> {
    if (this.#now() < this.#nextAt) {
      if (this.#known) return this.#known;
      throw this.#failure;
    }
    this.#running ??= this.#fetch().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #fetch(): Promise<Metadata> {
    try {
      this.#known = await fetchMetadata(this.#issuer);
      this.#nextAt = this.#now() + FRESH_MS;
      return this.#known;
    } catch (error) {
      this.#failure = error;
      this.#nextAt = this.#now() + COOL_DOWN_MS;
      if (this.#known) return this.#known;
      throw error;
    }
  }
}

async function fetchMetadata(issuer: string): Promise<Metadata> {
  let failure = "";
  for (const url of metadataPlaces(issuer)) {
    try {
      const metadata = await readJson(url);
      if (metadata["issuer"] === issuer) return metadata;
      failure = `${url} names the issuer ${JSON.stringify(metadata["issuer"])}`;
    } catch (error) {
      failure = messageOf(error);
    }
  }
  throw new Unavailable(`the metadata of ${issuer} cannot be read: ${failure}`);
}

/** Reads a JSON object from an issuer. Rejects with `Unavailable`. */
export async function readJson(url: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
  let text: string;
  try {
    const response = await fetch(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
    text = await boundedText(response, url);
    if (response.status !== 200) throw new Unavailable(`${url} answered with HTTP ${response.status}`);
  } catch (error) {
    throw error instanceof Unavailable ? error : new Unavailable(`${url} cannot be reached: ${causeOf(error)}`);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Falls through: the same complaint for everything that is no object.
  }
  throw new Unavailable(`${url} did not answer with a JSON object`);
}

async function boundedText(response: Response, url: string): Promise<string> {
  const body = await readBounded(response.body, MAX_BYTES);
  if (!body) throw new Unavailable(`${url} answered with more than ${MAX_BYTES} bytes`);
  return body.toString("utf8");
}

/** fetch hides the reason in `cause`. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause === undefined ? messageOf(error) : messageOf(cause);
}

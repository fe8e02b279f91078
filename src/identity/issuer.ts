/**
 * Talks to an OAuth issuer: its metadata and its introspection endpoint.
 *
 * Answers are bounded in size and time, redirects are not followed, and metadata counts only if it
 * names the issuer that it was asked for.
 */
import { messageOf } from "../protocol/errors.ts";
import type { Claims } from "./claims.ts";
import type { IssuerConfig } from "./resource-server.ts";

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;

/** The issuer did not answer as it should: the token is neither good nor bad. */
export class Unavailable extends Error {}

export interface IssuerMetadata {
  readonly jwks_uri?: unknown;
  readonly introspection_endpoint?: unknown;
}

/** Reads the issuer's metadata (RFC 8414, then OpenID Connect Discovery). */
export async function issuerMetadata(issuer: string): Promise<IssuerMetadata> {
  let failure = "";
  for (const url of metadataUrls(issuer)) {
    try {
      const metadata = await readJson(url, {});
      if (metadata["issuer"] === issuer) return metadata;
      failure = `${url} names the issuer ${JSON.stringify(metadata["issuer"])}`;
    } catch (error) {
      failure = messageOf(error);
    }
  }
  throw new Unavailable(`the metadata of ${issuer} cannot be read: ${failure}`);
}

/** Asks the issuer about an opaque token (RFC 7662). Returns undefined if it is not active. */
export async function introspect(config: IssuerConfig, token: string): Promise<Claims | undefined> {
  const { clientId, clientSecret } = config.introspect!;
  try {
    const endpoint = config.introspect!.endpoint ?? (await issuerMetadata(config.issuer)).introspection_endpoint;
    if (typeof endpoint !== "string") throw new Unavailable(`${config.issuer} has no introspection endpoint`);
    const secret = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
    const claims = await readJson(endpoint, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(secret).toString("base64")}`,
        "content-type": "application/x-www-form-urlencoded",
      },
      body: new URLSearchParams({ token, token_type_hint: "access_token" }).toString(),
    });
    if (claims["active"] !== true) return undefined;
    if (claims["iss"] !== undefined && claims["iss"] !== config.issuer) {
      throw new Error(`${config.issuer} vouches for a token of ${JSON.stringify(claims["iss"])}`);
    }
    const audience = [claims["aud"]].flat();
    if (!audience.some((value) => config.audience.includes(value as string))) {
      throw new Error(`a token of ${config.issuer} is for the audience ${JSON.stringify(claims["aud"])}`);
    }
    return claims as Claims;
  } catch (error) {
    if (error instanceof TypeError) throw new Unavailable(`${config.issuer} cannot be asked: ${messageOf(error)}`);
    throw error;
  }
}

function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

async function readJson(url: string, init: RequestInit): Promise<Record<string, unknown>> {
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
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Unavailable(`${url} answered with more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** fetch hides the reason in `cause`. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause === undefined ? messageOf(error) : messageOf(cause);
}

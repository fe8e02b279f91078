/**
 * Tells clients how to get in: the WWW-Authenticate header (RFC 6750, RFC 9728) and the metadata of
 * the protected resource that it points to.
 */
import type { CredentialRequest, CredentialsConfig, Unidentified } from "./credentials.ts";
import { endpointPath } from "./endpoint-audience.ts";

/** Everything a client sees starts with this path; what follows it names the endpoint. */
export const METADATA_PATH = "/.well-known/oauth-protected-resource";

const REALM = 'Bearer realm="goblin"';
const PROOF_ALGORITHMS = ["ES256", "ES384", "PS256", "EdDSA"];

export function challenge(config: CredentialsConfig, asked: CredentialRequest, refusal: Unidentified): string {
  if (issuersOf(config).length === 0) return REALM;
  const isBound = refusal.why === "invalid" && refusal.isBound;
  const parts = [isBound ? 'DPoP realm="goblin", algs="ES256 ES384 PS256 EdDSA"' : REALM];
  if (refusal.why === "invalid") parts.push('error="invalid_token"');
  if (refusal.why === "scope") parts.push('error="insufficient_scope"');
  const scopes = refusal.why === "scope" ? refusal.scopes : scopesOf(config);
  if (scopes.length > 0) parts.push(`scope="${scopes.join(" ")}"`);
  parts.push(`resource_metadata="${baseOf(config, asked)}${METADATA_PATH}${endpointPath(asked.path) ?? "/mcp"}"`);
  return parts.join(", ");
}

/**
 * Describes one endpoint (RFC 9728). Returns undefined if there is no such endpoint, or no issuer.
 * `endpoint`: the path of the endpoint; the root stands for the main one.
 */
export function resourceMetadata(
  config: CredentialsConfig,
  asked: CredentialRequest,
  endpoint: string,
): object | undefined {
  const issuers = issuersOf(config);
  // A stranger must not learn whether a profile or a server exists: all have the same metadata. A
  // client that lacks a profile's scope is told so when it comes with a token.
  const path = endpoint === "" || endpoint === "/" ? "/mcp" : endpointPath(endpoint);
  if (issuers.length === 0 || path === undefined) return undefined;
  const scopes = scopesOf(config);
  return {
    resource: baseOf(config, asked) + path,
    authorization_servers: issuers,
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    bearer_methods_supported: ["header"],
    resource_name: "Goblin",
    dpop_signing_alg_values_supported: PROOF_ALGORITHMS,
  };
}

/** Who issues tokens for this gateway. The configured ones come first, then the gateway itself. */
function issuersOf({ auth, publicUrl }: CredentialsConfig): string[] {
  const issuers = auth.oauth?.issuers.map(({ issuer }) => issuer) ?? [];
  return auth.pairing && publicUrl !== undefined ? [...issuers, publicUrl.replace(/\/$/, "")] : issuers;
}

/** The scopes that every request needs. */
function scopesOf({ auth }: CredentialsConfig): string[] {
  return [...new Set(auth.oauth?.issuers.flatMap(({ requiredScopes }) => requiredScopes))];
}

/** The gateway's own address, without a slash at the end. */
function baseOf({ publicUrl, tls }: CredentialsConfig, asked: CredentialRequest): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/$/, "");
  return `${tls ? "https" : "http"}://${asked.header("host") ?? "127.0.0.1"}`;
}

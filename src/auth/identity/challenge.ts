/**
 * Tells clients how to get in: the WWW-Authenticate header (RFC 6750, RFC 9728) and the metadata of
 * the protected resource that it points to.
 */
import { namedBy } from "../access/endpoints.ts";
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
  const scopes = refusal.why === "scope" ? refusal.scopes : scopesAt(config, asked.path);
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
  // Whether a profile or a server exists is nothing that a stranger must know: all have metadata.
  const path = endpoint === "" || endpoint === "/" ? "/mcp" : endpointPath(endpoint);
  if (issuers.length === 0 || path === undefined) return undefined;
  const scopes = scopesAt(config, path);
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

/** The scopes to ask for at an endpoint. */
function scopesAt(config: CredentialsConfig, path: string): string[] {
  return [...new Set([...scopesOf(config), ...profileScopes(config, endpointPath(path) ?? "/mcp")])];
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

/** The scopes that open a profile: a client asks for those that the metadata names. */
function profileScopes({ auth }: CredentialsConfig, path: string): readonly string[] {
  const named = namedBy(path.slice("/mcp".length));
  const tied = auth.oauth?.profiles ?? {};
  return named?.kind === "p" && Object.hasOwn(tied, named.name) ? tied[named.name]!.scopes : [];
}

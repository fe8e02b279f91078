/** The places for an issuer's metadata: RFC 8414 first, then OpenID Connect Discovery. */
export function metadataPlaces(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
  ];
  return path === "" ? places : [...places, `${origin}${path}/.well-known/openid-configuration`];
}

/**
 * Returns the Authorization header of a client with its secret (client_secret_basic, RFC 6749,
 * section 2.3.1).
 *
 * The RFC has both parts encoded as in a form, but many servers do not decode them. So only what
 * must be encoded is: `-`, `_` and `.` stay as they are. A space becomes `%20`, which decoders of
 * forms and of URIs both understand.
 */
export function basicCredentials(clientId: string, clientSecret: string): string {
  const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

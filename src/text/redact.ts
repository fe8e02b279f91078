/**
 * Takes secrets out of texts that come from outside, such as a server's own words for why it
 * refused us, which may echo the credentials that it was given. Longer secrets go first, so that no
 * rest of one stays behind.
 */

const HIDDEN = "[hidden]";
/** Shorter values are words like "true", which would be hidden where they mean nothing. */
const SHORTEST = 6;

export function createRedactor(secrets: Iterable<string>): (text: string) => string {
  const all = [...new Set(secrets)].filter((secret) => secret.length >= SHORTEST).sort((a, b) => b.length - a.length);
  return (text) => all.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
}

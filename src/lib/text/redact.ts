/**
 * Removes secrets from untrusted texts: a server's error message may echo the credentials we sent.
 *
 * Longer secrets are replaced first, so that no part of one remains.
 */

const HIDDEN = "[hidden]";
/** Shorter values are words like "true": hiding them would garble unrelated text. */
const SHORTEST = 6;

export function createRedactor(secrets: Iterable<string>): (text: string) => string {
  const all = [...new Set(secrets)].filter((secret) => secret.length >= SHORTEST).sort((a, b) => b.length - a.length);
  return (text) => all.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
}

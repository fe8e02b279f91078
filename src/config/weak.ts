/**
 * Warns about valid settings that protect nothing: guessable tokens, credentials sent without
 * encryption, and secrets that others can see. A warning names the key, never the value.
 */

import { isLoopback } from "../lib/text/loopback.ts";
import { holdsSecret } from "../lib/text/secrets/formats.ts";
import { isSecretSetting, secretArguments } from "../lib/text/secrets/names.ts";
import type { ServerTransport } from "../mcp/links/transport.ts";
import type { KeyPath } from "./problems/locate.ts";
import type { Report } from "./problems/report.ts";
import type { GatewayConfig } from "./schema/settings.ts";
import type { SecretText, TextPart } from "./secret-reference.ts";

const MIN_LENGTH = 16;
/** The shortest acceptable rest of a token after common words are removed. */
const MIN_REST_LENGTH = 8;
const MIN_DISTINCT = 6;
const WORDS =
  /pass(word|wd|phrase)?|secret|token|bearer|change|admin|root|user|client|goblin|gateway|server|mcp|test|demo|example|default|let|me|in|welcome|hello|qwertz?y?(uiop)?|asdf(gh(jkl)?)?|my|your|the|this|is|not|a|key|api|auth|local|host|dev|prod|(0?123456789?0?)+|abc(d(ef(gh?)?)?)?/g;
const REMEDY = "make one with: openssl rand -hex 24";

export function warnOfWeakTokens({ auth, admin }: GatewayConfig, report: Report): void {
  const all: [KeyPath, string | undefined][] = [
    ...auth.tokens.map((token, i): [KeyPath, string] => [["gateway", "auth", "tokens", i], token]),
    ...admin.tokens.map((token, i): [KeyPath, string] => [["gateway", "admin", "tokens", i], token]),
    ...Object.entries(auth.clients).map(([name, { token }]): [KeyPath, string | undefined] => [
      ["gateway", "auth", "clients", name, "token"],
      token,
    ]),
  ];
  for (const [path, token] of all) {
    const why = token === undefined ? undefined : weakness(token);
    if (why) report.warn(path, `the token is easily guessed: ${why}; ${REMEDY}`);
  }
}

function weakness(token: string): string | undefined {
  if (token.length < MIN_LENGTH) return `it is shorter than ${MIN_LENGTH} characters`;
  const rest = token
    .toLowerCase()
    .replace(WORDS, "")
    .replace(/[^a-z0-9]/g, "");
  if (rest.length < MIN_REST_LENGTH) return "it is made of common words";
  return new Set(token).size < MIN_DISTINCT ? "it has few distinct characters" : undefined;
}

/**
 * Warns about credential headers that go to another host over plain HTTP. `path`: the server's
 * entry.
 */
export function warnOfOpenCredentials(transport: ServerTransport, path: KeyPath, report: Report): void {
  if (transport.kind === "stdio" || !URL.canParse(transport.url)) return;
  const { protocol, hostname } = new URL(transport.url);
  if (protocol !== "http:" || isLoopback(hostname) || hostname.endsWith(".localhost")) return;
  for (const [name, value] of Object.entries(transport.headers)) {
    if (!isSecretSetting(name) && !holdsSecret(value)) continue;
    const message = `is sent to ${hostname} without encryption; use https://`;
    report.warn([...path, "headers", name], message);
  }
}

/** Warns about secrets in a program's arguments, which every user of a machine can list. */
export function warnOfVisibleSecrets(
  { transport, texts }: { readonly transport: ServerTransport; readonly texts: readonly SecretText[] },
  path: KeyPath,
  report: Report,
): void {
  const referred = texts.filter(({ at: [key], parts: all }) => key === "args" && all.some(isSecret));
  const places = referred.map(({ at }) => at);
  const plain = transport.kind === "stdio" ? secretArguments(transport.args) : [];
  const known = new Set(places.map(([, index]) => index));
  for (const at of [...places, ...plain.flatMap(({ index }) => (known.has(index) ? [] : [["args", index]]))]) {
    const hint = "use env if the program can";
    report.warn([...path, ...at], "other users of this machine can see the secret while the program runs", { hint });
  }
}

function isSecret(part: TextPart): boolean {
  return typeof part === "object" && (part.source !== "input" || part.isHidden);
}

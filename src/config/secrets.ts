/**
 * Collects the secret values of a config: tokens, environment values, headers, and the parts of a
 * URL that may hold a key.
 */

import { secretArguments } from "../lib/text/secrets/names.ts";
import type { ServerTransport } from "../mcp/links/transport.ts";
import { readRedisAddress } from "./cluster/redis-address.ts";
import { packageRunnerOf } from "./package-runner.ts";
import type { Config } from "./schema/config.ts";

/** Shorter values are ordinary words; masking them would garble every text. */
const MIN_LENGTH = 6;

/**
 * Returns the values that must not appear in a log. Of arguments, only those that are named or look
 * like a secret are included, and paths are not: without them a log is useless.
 */
export function logSecrets(config: Pick<Config, "servers" | "gateway" | "otel" | "approvals" | "cluster">): string[] {
  const { servers, gateway, otel, approvals, cluster } = config;
  const found = [
    ...(approvals.webhook ? [approvals.webhook.secret, ...pathKeys(approvals.webhook.url)] : []),
    ...gateway.auth.tokens,
    ...gateway.admin.tokens,
    ...Object.values(gateway.auth.clients).flatMap(({ token }) => token ?? []),
    ...(gateway.auth.oauth?.issuers ?? []).flatMap(({ introspect, login }) =>
      [introspect?.clientSecret, login?.clientSecret].filter((secret) => secret !== undefined),
    ),
    cluster.secret ?? "",
    ...(cluster.redis === undefined ? [] : [readRedisAddress(cluster.redis).password ?? ""]),
    ...(otel.endpoint === undefined ? [] : passwordsIn(otel.endpoint)),
    ...servers.flatMap(({ transport, auth }) => [
      ...keysOf(transport),
      ...(transport.kind === "stdio" ? secretArguments(transport.args).map(({ value }) => value) : []),
      auth?.clientSecret ?? "",
      auth?.privateKey ?? "",
      auth?.idp?.clientSecret ?? "",
    ]),
  ];
  return [...new Set(found)].filter((value) => value.length >= MIN_LENGTH);
}

/** A segment of words, as in /api/v1/streamable-http. Anything else may be a key. */
const PLAIN_SEGMENT = /^(?:v?\d{0,3}|[a-z]{1,12}(?:[-_.][a-z]{1,12}){0,3})$/i;

/**
 * Returns the values that must not appear in this server's connection errors, including arguments
 * and what could be a key in the URL's path.
 */
export function secretsOf(transport: ServerTransport): string[] {
  if (transport.kind === "stdio") {
    // A secret argument stands alone or after "=", as in --token=…. What a package runner installs
    // is no secret, and without it nobody understands the error.
    const installed = packageRunnerOf(transport.command, transport.args)?.package;
    const args = transport.args.filter((arg) => arg !== installed && !/^(?:-[A-Za-z]|--[A-Za-z][\w-]*)$/.test(arg));
    return [...keysOf(transport), ...args.flatMap((arg) => [arg, arg.slice(arg.indexOf("=") + 1)])];
  }
  if (!URL.canParse(transport.url)) return [...keysOf(transport), transport.url];
  const { pathname, search } = new URL(transport.url);
  const segments = pathname.split("/").filter((segment) => !PLAIN_SEGMENT.test(segment));
  return [...keysOf(transport), search.slice(1), ...segments];
}

/** The address of a webhook is often a secret of its own. */
function pathKeys(url: string): string[] {
  const { pathname, search } = new URL(url);
  return [...pathname.split("/"), search.slice(1)].filter((part) => !PLAIN_SEGMENT.test(part));
}

function passwordsIn(url: string): string[] {
  const { password } = new URL(url);
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

function keysOf(transport: ServerTransport): string[] {
  if (transport.kind === "stdio") return Object.values(transport.env);
  // `Bearer abc` is secret both as a whole and without the scheme.
  const headers = Object.values(transport.headers).flatMap((value) => [value, value.slice(value.indexOf(" ") + 1)]);
  if (!URL.canParse(transport.url)) return headers;
  const { username, password, searchParams } = new URL(transport.url);
  return [...headers, username, password, ...searchParams.values()];
}

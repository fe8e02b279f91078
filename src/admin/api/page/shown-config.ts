/**
 * The config in use, for people who may see everything but secrets.
 *
 * Invariant: values of variables and headers, tokens, hashes and everything that is named like a
 * secret never leave here; in other texts, the config's own secrets are masked.
 */

import type { Config } from "../../../config/schema/config.ts";
import { isRecord } from "../../../lib/structures/record.ts";
import { isSecretName } from "../../../lib/text/secrets/names.ts";
import { serverOrigin } from "../live/server-details.ts";

const MASK = "***";
const HIDDEN_VALUES: ReadonlySet<string> = new Set(["env", "headers", "tokens", "hash", "token"]);

export function shownConfig(config: Config, mask: (text: string) => string): Record<string, unknown> {
  const { servers, ...rest } = config;
  const shown = servers.map(({ transport, ...server }) => [
    server.id,
    { ...(shownValue(server, mask) as object), ...(server.problems ? {} : serverOrigin(transport, mask)) },
  ]);
  return { ...(shownValue(rest, mask) as object), mcpServers: Object.fromEntries(shown) };
}

/** A part of the config, with what is named like a secret masked. */
export function shownValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((item) => shownValue(item, mask));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (HIDDEN_VALUES.has(key)) return [key, hidden(inner)];
      if (typeof inner === "string" && isSecretName(key)) return [key, MASK];
      return [key, shownValue(inner, mask)];
    }),
  );
}

function hidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(() => MASK);
  if (isRecord(value)) return Object.fromEntries(Object.keys(value).map((key) => [key, MASK]));
  return value === undefined ? undefined : MASK;
}

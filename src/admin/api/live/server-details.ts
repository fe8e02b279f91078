/**
 * Shows what a server is: its command or address, and what it wrote to stderr last.
 *
 * Invariant: values of variables and headers never leave here. In arguments and addresses, what is
 * named like a secret, looks like one or is one of the config's is masked.
 */

import { isOpaque } from "../../../lib/text/secrets/formats.ts";
import { secretArguments } from "../../../lib/text/secrets/names.ts";
import type { ServerTransport } from "../../../mcp/links/transport.ts";
import { masked } from "../../../observe/telemetry/audit-mask.ts";
import { logEntry } from "../api-rows.ts";
import type { AdminParts } from "../parts.ts";
import type { ServerRow } from "../schema.ts";
import type { ServerDetails } from "./schema.ts";

const STDERR_LINES = 50;
const MASK = "***";

export function serverDetails(row: ServerRow, { servers, logs }: Pick<AdminParts, "servers" | "logs">): ServerDetails {
  const config = servers.config(row.id)!;
  const instructions = servers.status(row.id)?.info?.instructions;
  const stderr = logs
    .lines()
    .filter(({ server, extra }) => server === row.id && extra?.["stream"] === "stderr")
    .slice(-STDERR_LINES)
    .map(logEntry);
  return {
    ...row,
    ...(config.problems ? NOWHERE : serverOrigin(config.transport, (text) => logs.masker.text(String(masked(text))))),
    share: config.share,
    prefix: config.prefix,
    instructions: instructions === undefined ? null : logs.masker.text(instructions),
    stderr,
  };
}

type Origin = Pick<ServerDetails, "command" | "args" | "cwd" | "env" | "url" | "headers">;

/** Of an entry that is not valid, nothing can be told. */
const NOWHERE: Origin = { command: null, args: [], cwd: null, env: [], url: null, headers: [] };

/** Shows where a server runs, without secrets. */
export function serverOrigin(transport: ServerTransport, mask: (text: string) => string): Origin {
  if (transport.kind !== "stdio") {
    return { ...NOWHERE, url: shownUrl(transport.url, mask), headers: Object.keys(transport.headers) };
  }
  const { command, args, env, cwd } = transport;
  return { ...NOWHERE, command: mask(command), args: shownArgs(args, mask), cwd: cwd ?? null, env: Object.keys(env) };
}

function shownArgs(args: readonly string[], mask: (text: string) => string): string[] {
  const secrets = new Map(secretArguments(args).map(({ index, before }) => [index, `${before}${MASK}`]));
  return args.map((arg, index) => secrets.get(index) ?? mask(arg));
}

/** Shows the address without query values; a long part of the path may be a key. */
function shownUrl(text: string, mask: (text: string) => string): string {
  if (!URL.canParse(text)) return mask(text);
  const { origin: site, pathname, searchParams } = new URL(text);
  const path = pathname
    .split("/")
    .map((part) => (isOpaque(part) || (part.length >= 16 && /\d/.test(part)) ? MASK : part))
    .join("/");
  const query = [...searchParams.keys()].map((key) => `${key}=${MASK}`).join("&");
  return mask(`${site}${path}${query === "" ? "" : `?${query}`}`);
}

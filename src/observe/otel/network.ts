/**
 * The attributes of the conventions about the network: how a client came, and how a server is
 * reached. All of them have few values, so that metrics can have them too, except for the client's
 * address.
 */
import { isIP } from "node:net";
import type { ServerTransport } from "../../mcp/links/transport.ts";
import { type Call, type Client, STDIO_ACCOUNT } from "../../mcp/protocol/call.ts";

export type Attributes = Readonly<Record<string, string | number | undefined>>;

type Arrived = Pick<Client, "account" | "principal">;

const PIPE: Attributes = { "network.transport": "pipe" };
/** The version is not known here: a proxy may use an older one than the client. */
const HTTP: Attributes = { "network.transport": "tcp", "network.protocol.name": "http" };
/** The only version that the gateway's own HTTP client speaks. */
const ASKED_BY_HTTP: Attributes = { ...HTTP, "network.protocol.version": "1.1" };
const NOTHING: Attributes = {};

/** How a client came. */
export function arrivalOf({ account, principal }: Arrived): Attributes {
  return principal === "" && account === STDIO_ACCOUNT ? PIPE : HTTP;
}

/** How a call came. One without an id came from the gateway itself or through its API. */
export function arrivalOfCall({ id, client }: Call): Attributes {
  return id === undefined ? NOTHING : arrivalOf(client);
}

/**
 * The address of a client, which is known of clients without a token alone: limits count those by
 * it. Of a session, the one that it was opened from.
 */
export function addressOf({ account, principal }: Arrived): string | undefined {
  return principal === "" && isIP(account) !== 0 ? account : undefined;
}

const reached = new WeakMap<ServerTransport, Attributes>();

/** How a server is reached. */
export function routeTo(transport: ServerTransport | undefined): Attributes {
  if (!transport) return NOTHING;
  let attributes = reached.get(transport);
  if (!attributes) {
    attributes = transport.kind === "stdio" ? PIPE : { ...ASKED_BY_HTTP, ...hostOf(transport.url) };
    reached.set(transport, attributes);
  }
  return attributes;
}

function hostOf(url: string): Attributes {
  if (!URL.canParse(url)) return NOTHING;
  const { hostname, port, protocol } = new URL(url);
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  return { "server.address": address, "server.port": Number(port || (protocol === "https:" ? 443 : 80)) };
}

/**
 * Finds a running gateway: the one named with --url, else at the address that `GOBLIN_HOST` and
 * `GOBLIN_PORT` name, else the running one of its config, else at the address in that config.
 *
 * Invariant: a config in the current folder can lead only to this machine, and no environment
 * variable is substituted in it. A file in a cloned repository must never redirect a token or a
 * call's arguments to another host.
 */
import { resolve } from "node:path";
import { findConfig, isFound } from "../../../config/reading/find.ts";
import { loadConfig } from "../../../config/reading/load.ts";
import type { GatewayConfig } from "../../../config/schema/settings.ts";
import { addressIn, type WrittenAddress } from "../../../config/written-address.ts";
import { isLoopback } from "../../../lib/text/loopback.ts";
import { type Address, namedAddress, namedConfig } from "../environment.ts";
import { UsageError } from "../usage-error.ts";
import { type GatewayRecord, readRecord } from "./gateway-record.ts";

export interface GatewayOptions {
  readonly config?: string | undefined;
  readonly url?: string | undefined;
  readonly token?: string | undefined;
}

export interface FoundGateway {
  /** The gateway's root URL. */
  readonly url: string;
  /** The root URL of its API, which may have its own address. */
  readonly adminUrl: string;
  readonly token: string | undefined;
  /** The token's source, for error messages. */
  readonly tokenFrom: string;
  /** The config that led to it; undefined if there is none, or --url named the gateway. */
  readonly config: string | undefined;
}

export async function findGateway(options: GatewayOptions): Promise<FoundGateway> {
  const given = options.token ?? process.env["GOBLIN_TOKEN"];
  const givenFrom = options.token === undefined ? "GOBLIN_TOKEN" : "--token";
  if (options.url !== undefined) {
    const url = rootOf(options.url);
    return { url, adminUrl: url, token: given, tokenFrom: givenFrom, config: undefined };
  }
  const named = namedConfig(options.config, process.env);
  const path = named === undefined ? findConfig(process.cwd(), process.env) : resolve(named);
  const found = named === undefined && path !== undefined && isFound(path, process.cwd(), process.env);
  const inFile = path === undefined ? {} : await writtenAddress(path, found);
  if (path !== undefined && found) assertLocal(path, inFile);
  const address = namedAddress({}, process.env);
  const running = address.host === undefined && address.port === undefined && readRecord(path, process.env);
  const tokenFrom = given === undefined ? `the first token in ${path}` : givenFrom;
  if (running && (!found || isLocal(running))) {
    return { url: running.url, adminUrl: running.adminUrl, token: given ?? inFile.token, tokenFrom, config: path };
  }
  const written = { ...inFile, ...defined(address) };
  const scheme = written.tls ? "https" : "http";
  const url = `${scheme}://${addressOf(written)}`;
  const adminUrl = written.admin?.port === undefined ? url : `${scheme}://${addressOf(written.admin)}`;
  return { url, adminUrl, token: given ?? written.token, tokenFrom, config: path };
}

function defined({ host, port }: Address): Address {
  return { ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
}

function assertLocal(path: string, { host, admin }: WrittenAddress): void {
  for (const named of [host, admin?.host]) {
    if (named === undefined || isLoopback(reachable(named))) continue;
    throw new UsageError(
      `${path} was found in the current folder and names a gateway on ${named}: ` +
        "such a file must not direct tokens or requests to another host; name the gateway with --url",
    );
  }
}

function isLocal({ url, adminUrl }: GatewayRecord): boolean {
  return [url, adminUrl].every((one) => isLoopback(new URL(one).hostname));
}

export function addressOf({ host = "127.0.0.1", port = 3000 }: Pick<WrittenAddress, "host" | "port">): string {
  const name = reachable(host);
  return `${name.includes(":") ? `[${name}]` : name}:${port === 0 ? 3000 : port}`;
}

/** Returns loopback for a gateway that listens on all addresses. */
function reachable(host: string): string {
  return host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
}

/**
 * Returns the address in a config. An invalid config must not prevent access to a running gateway.
 */
async function writtenAddress(path: string, found: boolean): Promise<WrittenAddress> {
  if (found) return addressIn(path);
  const loaded = await loadConfig(path).catch(() => undefined);
  if (loaded === undefined) return addressIn(path);
  const { host, port, auth, admin, tls } = loaded.config.gateway;
  return { host, port, admin, tls: tls !== undefined, token: ownToken({ auth, admin }) };
}

/** Returns the token in the config that opens the most: an admin's is also valid for clients. */
export function ownToken({ auth, admin }: Pick<GatewayConfig, "auth" | "admin">): string | undefined {
  const clients = Object.values(auth.clients).filter(({ token }) => token !== undefined);
  const named = clients.find((client) => client.admin) ?? (auth.tokens.length === 0 ? clients[0] : undefined);
  return admin.tokens[0] ?? named?.token ?? auth.tokens[0];
}

/** Returns the origin that `--url` names. */
export function rootOf(text: string): string {
  const address = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address))
    throw new UsageError(`--url ${text} is not a URL; it should look like http://127.0.0.1:3000`);
  return new URL(address).origin;
}

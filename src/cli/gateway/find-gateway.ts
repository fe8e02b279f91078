/**
 * Where a running gateway is: what was named with --url, else where the config that `serve` would
 * find puts it.
 *
 * What must always hold: a config that lies in the current folder, where anybody may have put it,
 * leads to this machine only, and nothing of the environment gets into what it says. So neither a
 * token nor the arguments of a call can be drawn to another host by a file in a cloned repository.
 */
import { findConfig, isFound } from "../../config/reading/find.ts";
import { addressIn, loadConfig, type WrittenAddress } from "../../config/reading/load.ts";
import { UsageError } from "../usage-error.ts";

export interface GatewayOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
}

export interface FoundGateway {
  /** The gateway's root. */
  readonly url: string;
  /** The root of its API, which may have an address of its own. */
  readonly adminUrl: string;
  readonly token: string | undefined;
  /** Where the token came from, in words. */
  readonly tokenFrom: string;
}

export async function findGateway(options: GatewayOptions): Promise<FoundGateway> {
  const given = options.token ?? process.env["GOBLIN_TOKEN"];
  const givenFrom = options.token === undefined ? "GOBLIN_TOKEN" : "--token";
  if (options.url !== undefined) {
    const url = rootOf(options.url);
    return { url, adminUrl: url, token: given, tokenFrom: givenFrom };
  }
  const path = findConfig(process.cwd(), process.env);
  const written = path === undefined ? {} : await writtenAddress(path);
  if (path !== undefined && isFound(path, process.cwd(), process.env)) assertLocal(path, written);
  const scheme = written.tls ? "https" : "http";
  const url = `${scheme}://${addressOf(written)}`;
  const adminUrl = written.admin?.port === undefined ? url : `${scheme}://${addressOf(written.admin)}`;
  const tokenFrom = given === undefined ? `the first token in ${path}` : givenFrom;
  return { url, adminUrl, token: given ?? written.token, tokenFrom };
}

function assertLocal(path: string, { host, admin }: WrittenAddress): void {
  for (const named of [host, admin?.host]) {
    if (named === undefined || isLoopback(reachable(named))) continue;
    throw new UsageError(
      `${path} was found in the current folder and names a gateway on ${named}: ` +
        "no token and no request is sent to another host because of such a file; name the gateway with --url",
    );
  }
}

function addressOf({ host = "127.0.0.1", port = 3000 }: Pick<WrittenAddress, "host" | "port">): string {
  const name = reachable(host);
  return `${name.includes(":") ? `[${name}]` : name}:${port === 0 ? 3000 : port}`;
}

/** A gateway that listens on every address is reached on this machine's own. */
function reachable(host: string): string {
  return host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
}

/** A config that is not valid is no reason not to ask a gateway that runs. */
async function writtenAddress(path: string): Promise<WrittenAddress> {
  if (isFound(path, process.cwd(), process.env)) return addressIn(path);
  const loaded = await loadConfig(path).catch(() => undefined);
  if (loaded === undefined) return addressIn(path);
  const { host, port, auth, admin, tls } = loaded.config.gateway;
  // An admin's token opens what a client's does, too.
  return { host, port, admin, tls: tls !== undefined, token: admin.tokens[0] ?? auth.tokens[0] };
}

/** Only what cannot be another host, however a resolver reads it. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

function rootOf(text: string): string {
  const address = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address))
    throw new UsageError(`--url ${text} is no URL; it should look like http://127.0.0.1:3000`);
  return new URL(address).origin;
}

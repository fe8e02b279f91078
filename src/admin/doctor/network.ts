/**
 * Examines the way to a remote server: does the address resolve and answer, by which proxy, is its
 * certificate valid and for how long, and do both clocks agree.
 *
 * One connection, on which nothing but a request without credentials is sent.
 */
import { connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectSecurely, type TLSSocket } from "node:tls";
import { proxyFor } from "../../lib/http-client/proxy.ts";
import { Tunnel } from "../../lib/http-client/tunnel.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { Finding } from "./finding.ts";

const ANSWER_MS = 10_000;
const DAY_MS = 86_400_000;
const SOON_DAYS = 14;
/** Tokens and signatures allow for about a minute. */
const SKEW_MS = 60_000;

export interface ProbeOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly now?: () => number;
}

export async function examineAddress(where: string, address: string, options: ProbeOptions = {}): Promise<Finding[]> {
  const { env = process.env, now = Date.now } = options;
  const url = new URL(address);
  const proxy = proxyFor(url, env);
  const found: Finding[] = [];
  if (proxy) found.push({ level: "note", code: "proxy", where, what: `requests go through the proxy ${proxy.host}` });
  else if (hasUnusedProxy(url, env)) {
    const remedy = "use an http:// or https:// proxy";
    found.push({
      level: "warning",
      code: "proxy",
      where,
      what: "the proxy variable names a proxy of another kind",
      remedy,
    });
  }
  try {
    const { secured, date } = await probe(url, proxy);
    if (secured) found.push(...certificateFindings(where, secured, now()));
    const skewMs = date === undefined ? 0 : now() - date;
    if (Math.abs(skewMs) > SKEW_MS) found.push(skewFinding(where, skewMs));
  } catch (error) {
    found.push(unreachable(where, { url, proxy, error }));
  }
  return found;
}

interface Secured {
  /** Why the certificate is not trusted; undefined: it is. */
  readonly problem: string | undefined;
  readonly validTo: number;
}

interface Probed {
  readonly secured: Secured | undefined;
  /** The server's clock, in milliseconds since the epoch. */
  readonly date: number | undefined;
}

async function probe(url: URL, proxy: URL | undefined): Promise<Probed> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isSecure = url.protocol === "https:";
  const port = Number(url.port) || (isSecure ? 443 : 80);
  const plain: Duplex = proxy ? new Tunnel(proxy, `${url.hostname}:${port}`) : connect({ host, port });
  const socket: Duplex | TLSSocket = isSecure
    ? connectSecurely({
        socket: plain as Socket,
        servername: isIP(host) ? "" : host,
        rejectUnauthorized: false,
        ALPNProtocols: ["http/1.1"],
      })
    : plain;
  const timer = setTimeout(() => plain.destroy(new Error(`no answer within ${ANSWER_MS / 1000} s`)), ANSWER_MS);
  try {
    return await new Promise<Probed>((resolve, reject) => {
      plain.on("error", reject);
      socket.on("error", reject);
      let secured: Secured | undefined;
      let text = "";
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString("latin1");
        if (text.includes("\r\n\r\n")) resolve({ secured, date: dateIn(text) });
      });
      socket.on("close", () => resolve({ secured, date: dateIn(text) }));
      const ask = (): void => {
        if (isSecure) secured = securedBy(socket as TLSSocket);
        socket.write(`HEAD ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: close\r\n\r\n`);
      };
      if (isSecure) socket.once("secureConnect", ask);
      else ask();
    });
  } finally {
    clearTimeout(timer);
    socket.destroy();
    plain.destroy();
  }
}

function securedBy(socket: TLSSocket): Secured {
  const { authorized, authorizationError } = socket;
  const reason: unknown = authorizationError;
  return {
    problem: authorized ? undefined : reason instanceof Error ? reason.message : String(reason),
    validTo: Date.parse(socket.getPeerCertificate().valid_to),
  };
}

function dateIn(text: string): number | undefined {
  const written = /^date: *(.+?)\r?$/im.exec(text.split("\r\n\r\n", 1)[0]!)?.[1];
  const date = written === undefined ? Number.NaN : Date.parse(written);
  return Number.isNaN(date) ? undefined : date;
}

function* certificateFindings(where: string, { problem, validTo }: Secured, now: number): Generator<Finding> {
  const end = new Date(validTo).toISOString().slice(0, 10);
  const days = Math.floor((validTo - now) / DAY_MS);
  if (problem !== undefined) {
    const what = `its certificate is not trusted: ${problem}${days < 0 ? `, it ended on ${end}` : ""}`;
    const own = "if it is of your own authority, name that in NODE_EXTRA_CA_CERTS where the gateway runs";
    yield { level: "error", code: "tls", where, what, remedy: days < 0 ? "have it renewed" : own };
  } else if (days < SOON_DAYS) {
    yield { level: "warning", code: "tls", where, what: `its certificate ends on ${end}`, remedy: "have it renewed" };
  } else yield { level: "ok", code: "tls", where, what: `its certificate is valid until ${end}` };
}

function skewFinding(where: string, skewMs: number): Finding {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return {
    level: "warning",
    code: "clock",
    where,
    what: `this machine's clock is ${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} the server's`,
    remedy: "set the clock (NTP): tokens and certificates are valid by the clock",
  };
}

interface Failure {
  readonly url: URL;
  readonly proxy: URL | undefined;
  readonly error: unknown;
}

const CAUSES: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ENOTFOUND: ["its name does not exist", 'check "url" for a typing error, and the network'],
  EAI_AGAIN: ["its name cannot be looked up now", "check the network and the name server"],
  ECONNREFUSED: ["nobody listens there", 'start the server, or check the port in "url"'],
  ETIMEDOUT: ["it does not answer", "check the network, a firewall or a proxy"],
  EHOSTUNREACH: ["there is no way to it", "check the network or a VPN"],
  ENETUNREACH: ["there is no way to it", "check the network or a VPN"],
};

function unreachable(where: string, { url, proxy, error }: Failure): Finding {
  const code = String((error as { code?: unknown }).code ?? "");
  const [what, remedy] = CAUSES[code] ?? [messageOf(error), "check the network, a firewall or a proxy"];
  const by = proxy ? ` through the proxy ${proxy.host}` : "";
  return { level: "error", code: "unreachable", where, what: `${url.origin} cannot be reached${by}: ${what}`, remedy };
}

/** A proxy variable whose proxy is not used, because it is neither http nor https. */
function hasUnusedProxy({ protocol }: URL, env: Readonly<Record<string, string | undefined>>): boolean {
  const names = [`${protocol.slice(0, -1)}_proxy`, "all_proxy"];
  const value = names.map((name) => env[name] || env[name.toUpperCase()]).find(Boolean);
  return value !== undefined && /^(?!https?:)[a-z0-9+.-]+:\/\//i.test(value);
}

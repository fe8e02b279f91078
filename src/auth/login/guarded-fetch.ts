/**
 * Requests to addresses that others name: the metadata, registration and tokens of a login, and the
 * documents of clients that ask to be let in.
 *
 * A server's metadata decides where those of a login go, so each is guarded. Metadata of a public
 * server cannot lead to a private address or to plain HTTP, not even at the server's own name: only
 * what the config itself names may be there. Metadata of a server in a private network may lead to
 * others there, but not to this machine: the gateway's own API listens here. The address is checked
 * when the socket connects, so that no second look-up can give another one. Every request is
 * bounded in time and size, and no redirect is followed.
 */
import { type LookupAddress, lookup } from "node:dns";
import http, { type IncomingMessage } from "node:http";
import { isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import { readBounded } from "../../lib/http-client/read-bounded.ts";
import { isLoopbackAddress, isPrivateAddress } from "../../lib/text/private-address.ts";

/** The part of fetch's options that a login uses. */
export interface GuardedInit {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
}

export interface Guard {
  /** Whether the server is public but has no TLS, so that others could read its tokens. */
  readonly isExposed: boolean;
  /** Rejects if the address is not allowed, or the answer is too late or too large. */
  fetch(url: string, init?: GuardedInit): Promise<Response>;
  /** Returns the URL if its form is allowed. Throws otherwise. */
  check(url: string): URL;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

export interface GuardOptions {
  readonly timeoutMs?: number | undefined;
  /** Finds the addresses of a name. */
  readonly look?: LookupFunction;
}

/**
 * `configured`: the URLs that the config names, first the server's own. A host that has also a
 * public address is a public one: its owner can give its name any private address. In the same way,
 * a host of a private network is not this machine, whatever else its name stands for. So the names
 * of the config are looked up here, once, and lead to no other address later.
 */
export async function createGuard(configured: readonly string[], options: GuardOptions = {}): Promise<Guard> {
  const { timeoutMs = TIMEOUT_MS, look = lookup as LookupFunction } = options;
  const named = configured.map((url) => new URL(url));
  const plain = new Set(named.filter(({ protocol }) => protocol === "http:").map(({ hostname }) => hostname));
  const known = new Map<string, readonly LookupAddress[]>();
  for (const { hostname } of named) {
    const found = await addressesOf(bare(hostname), look);
    const outside = found.filter(({ address }) => !isPrivateAddress(address));
    const elsewhere = found.filter(({ address }) => !isLoopbackAddress(address));
    const kept = [outside, elsewhere, found].find((some) => some.length > 0);
    if (kept) known.set(hostname, kept);
  }
  const isInside = (hostname: string): boolean =>
    known.get(hostname)?.every(({ address }) => isPrivateAddress(address)) === true;
  const inside = new Set(named.map(({ hostname }) => hostname).filter(isInside));
  const [server] = named;
  const allowsPrivate = inside.has(server!.hostname);
  const allowsPlain = server!.protocol === "http:";
  const isExposed = allowsPlain && !allowsPrivate;
  const all = [...inside].flatMap((hostname) => known.get(hostname) ?? []).map(({ address }) => address);
  const isNamed = all.some((address) => isLoopbackAddress(address)) ? () => true : (one: string) => all.includes(one);
  const allowed = { plain, inside, known, allowsPlain, allowsPrivate, isNamed, timeoutMs, look };
  return { isExposed, ...guarded(allowed) };
}

/** For addresses that anybody may name: only public ones, over TLS. These hosts are exempt. */
export function createPublicGuard(exempt: readonly string[]): Guard {
  const hosts = new Set(exempt);
  return { isExposed: false, ...guarded({ ...PUBLIC, plain: hosts, inside: hosts }) };
}

interface Allowed {
  /** Hosts that may be reached without TLS. */
  readonly plain: ReadonlySet<string>;
  /** Hosts that may have private addresses. */
  readonly inside: ReadonlySet<string>;
  /** The addresses of hosts that are not looked up again. */
  readonly known: ReadonlyMap<string, readonly LookupAddress[]>;
  readonly allowsPlain: boolean;
  readonly allowsPrivate: boolean;
  /** Whether the config names this address of this machine. */
  readonly isNamed: (address: string) => boolean;
  /** An answer must be complete by then. */
  readonly timeoutMs: number;
  readonly look: LookupFunction;
}

const PUBLIC = {
  allowsPlain: false,
  allowsPrivate: false,
  isNamed: () => false,
  known: new Map<string, readonly LookupAddress[]>(),
  timeoutMs: TIMEOUT_MS,
  look: lookup as LookupFunction,
};

function guarded(allowed: Allowed): Pick<Guard, "check" | "fetch"> {
  const { plain, inside, known, allowsPlain, allowsPrivate, isNamed, timeoutMs, look } = allowed;
  const problemOf = (hostname: string, address: string): Error | undefined => {
    if (inside.has(hostname) || !isPrivateAddress(address)) return undefined;
    if (!allowsPrivate) return leadsInside(hostname);
    return isOfThisMachine(address) && !isNamed(address) ? leadsHere(hostname) : undefined;
  };

  const check = (text: string): URL => {
    if (!URL.canParse(text)) throw new Error(`${JSON.stringify(text)} is not a URL`);
    const url = new URL(text);
    if (url.protocol !== "https:" && url.protocol !== "http:") throw new Error(`${text} is not an https URL`);
    if (url.username + url.password !== "") throw new Error("the URL has a user name or a password in it");
    const { protocol, hostname } = url;
    if (protocol === "http:" && !allowsPlain && !plain.has(hostname)) throw new Error(`${text} is not an https URL`);
    const problem = problemOf(hostname, bare(hostname));
    if (problem) throw problem;
    return url;
  };

  const guardedLookup: LookupFunction = (hostname, options, done) => {
    const answer = (found: readonly LookupAddress[]): void => {
      if (options.all) return done(null, [...found]);
      done(null, found[0]!.address, found[0]!.family);
    };
    const pinned = known.get(hostname);
    if (pinned) return answer(pinned);
    look(hostname, { ...options, all: true }, (error, result) => {
      if (error) return done(error, "");
      const found = typeof result === "string" ? [{ address: result, family: isIP(result) }] : result;
      const problem = found.map(({ address }) => problemOf(hostname, address)).find((one) => one !== undefined);
      if (problem) return done(problem, "");
      answer(found);
    });
  };

  return { check, fetch: async (text, init = {}) => send(check(text), init, { look: guardedLookup, timeoutMs }) };
}

function leadsInside(host: string): NodeJS.ErrnoException {
  return new Error(`${host} is a private address, where nothing public may lead`);
}

function leadsHere(host: string): NodeJS.ErrnoException {
  return new Error(`${host} is this machine, where only the config may lead: set "auth.issuer" if the login is there`);
}

function isOfThisMachine(address: string): boolean {
  if (isLoopbackAddress(address)) return true;
  return Object.values(networkInterfaces()).some((some) => some?.some((one) => one.address === address));
}

/** A host that cannot be found is public: its look-up fails later, with a better error. */
function addressesOf(host: string, look: LookupFunction): Promise<readonly LookupAddress[]> {
  return new Promise((resolve) => {
    look(host, { all: true }, (error, found) => {
      if (error) return resolve([]);
      resolve(typeof found === "string" ? [{ address: found, family: isIP(found) }] : found);
    });
  });
}

/** Returns an IPv6 address without its brackets. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

interface Sending {
  readonly look: LookupFunction;
  readonly timeoutMs: number;
}

function send(url: URL, { method = "GET", headers = {}, body }: GuardedInit, how: Sending): Promise<Response> {
  const { look, timeoutMs } = how;
  const { request } = url.protocol === "https:" ? process.getBuiltinModule("node:https") : http;
  const text = body === undefined || body === null ? undefined : String(body);
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    const done = (): void => clearTimeout(late);
    const sent = request(url, {
      method,
      // Oauth4webapi passes an iterable of pairs.
      headers: Object.fromEntries(new Headers(headers)),
      lookup: look,
      agent: false,
    });
    sent.on("error", (error) => {
      done();
      reject(error);
    });
    sent.on("response", (incoming) => {
      readBounded(incoming as AsyncIterable<Buffer>, MAX_BYTES)
        .then((bytes) => {
          if (!bytes) throw new Error(`the answer has more than ${MAX_BYTES} bytes`);
          resolve(responseOf(incoming, bytes));
        })
        .catch((error: Error) => {
          sent.destroy();
          reject(error);
        })
        .finally(done);
    });
    sent.end(text);
  });
}

function responseOf({ statusCode = 0, rawHeaders }: IncomingMessage, bytes: Buffer): Response {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  return new Response(WITHOUT_BODY.has(statusCode) ? null : new Uint8Array(bytes), { status: statusCode, headers });
}

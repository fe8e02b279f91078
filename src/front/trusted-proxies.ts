/**
 * Where a request comes from if proxies are in between: the nearest address that is not one of
 * `gateway.trustedProxies`, as these report it in `X-Forwarded-For` or `Forwarded` (RFC 7239).
 *
 * Invariant: only what a trusted proxy wrote is believed. Such a proxy appends the address that it
 * sees, so addresses are read from the right, and what a client wrote itself is never reached. A
 * proxy writes one of the two headers and may pass the other on, so if they disagree, neither is
 * believed.
 */
import type { Socket } from "node:net";
import { BlockList, isIP } from "node:net";
import type { LiveConfig } from "../config/live-config.ts";
import { networkOf } from "./network.ts";

/** The request, for its headers. */
interface HeaderSource {
  header(name: string): string | undefined;
}

/** More proxies in a row than anybody has. */
const MAX_HOPS = 32;
const FORWARDED_FOR = /(?:^|[,;\s])for=("(?:[^"\\]|\\.)*"|[^,;\s]*)/gi;

/** An address in brackets, or an IPv4 address, with a port. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::[\w.-]+)?$/;

export class TrustedProxies {
  #lists: { readonly ipv4: BlockList; readonly ipv6: BlockList } | undefined;
  /** The networks at the other ends of connections. */
  readonly #direct = new WeakMap<Socket, string>();

  constructor(config: Pick<LiveConfig, "current" | "on">) {
    const follow = (): void => {
      this.#lists = listsOf(config.current.gateway.trustedProxies);
    };
    config.on("changed", follow);
    follow();
  }

  /** Returns the key that the sender of a request is counted under. */
  networkOf(socket: Socket, request: HeaderSource): string {
    let direct = this.#direct.get(socket);
    if (direct === undefined) {
      direct = networkOf(socket.remoteAddress ?? "");
      this.#direct.set(socket, direct);
    }
    const remote = this.#lists && addressIn(socket.remoteAddress ?? "");
    if (remote === undefined || !this.#isTrusted(remote)) return direct;
    const reports = [plainHops(request.header("x-forwarded-for")), forwardedHops(request.header("forwarded"))];
    const networks = reports.flatMap((hops) => (hops ? [networkOf(this.#client(remote, hops))] : []));
    return networks.every((network) => network === networks[0]) ? (networks[0] ?? direct) : direct;
  }

  /** `hops`: from the client to the nearest proxy. Ends at what is no address. */
  #client(remote: string, hops: readonly string[]): string {
    let client = remote;
    for (const hop of hops.slice(-MAX_HOPS).reverse()) {
      const address = addressIn(hop);
      if (address === undefined) return client;
      client = address;
      if (!this.#isTrusted(address)) return client;
    }
    return client;
  }

  #isTrusted(address: string): boolean {
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    return this.#lists?.[family].check(address, family) ?? false;
  }
}

function listsOf(proxies: readonly string[]): { ipv4: BlockList; ipv6: BlockList } | undefined {
  if (proxies.length === 0) return undefined;
  // Two lists, because a list compares an IPv4 address also with rules for its IPv6 form.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const proxy of proxies) {
    const [address = "", prefix] = proxy.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (prefix === undefined) lists[family].addAddress(address, family);
    else lists[family].addSubnet(address, Number(prefix), family);
  }
  return lists;
}

function plainHops(header: string | undefined): string[] | undefined {
  return header?.split(",").map((hop) => hop.trim());
}

function forwardedHops(header: string | undefined): string[] | undefined {
  return header === undefined ? undefined : [...header.matchAll(FORWARDED_FOR)].map(([, hop = ""]) => unquoted(hop));
}

function unquoted(text: string): string {
  return text.startsWith('"') && text.endsWith('"') && text.length > 1
    ? text.slice(1, -1).replace(/\\(.)/g, "$1")
    : text;
}

/** Returns the address without port and brackets; an IPv4 address in IPv6 form as IPv4. */
function addressIn(text: string): string | undefined {
  const [, bracketed, dotted] = WITH_PORT.exec(text) ?? [];
  const address = bracketed ?? dotted ?? text;
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
  return isIP(mapped) === 0 ? undefined : mapped;
}

/**
 * Recognizes IP addresses that no public host has: this machine, private networks, link-local,
 * multicast and reserved ones. An IPv4 address in IPv6 form counts as private. One behind a
 * translator (NAT64, 6to4) is what it is translated to.
 */
import { BlockList, isIP } from "node:net";

// Two lists, because a list compares an IPv4 address also with rules for its IPv6 form.
const blocked4 = new BlockList();
const blocked6 = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  blocked4.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 96],
  ["::ffff:0:0", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const) {
  blocked6.addSubnet(network, prefix, "ipv6");
}

/** Takes an address without brackets. What is no address is not private: it is a name. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return blocked4.check(address, "ipv4");
  if (family !== 6) return false;
  const inner = translated(address);
  return blocked6.check(address, "ipv6") || (inner !== undefined && isPrivateAddress(inner));
}

/** Whether packets to this address never leave this machine. Takes an address without brackets. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return /^(?:127|0)\./.test(address);
  if (family !== 6) return false;
  const groups = groupsOf(address);
  const [high = 0, low = 0] = groups.slice(6);
  const inner = translated(address);
  if (inner !== undefined) return isLoopbackAddress(inner);
  const isEmbedded = groups.slice(0, 5).every((group) => group === 0) && (groups[5] === 0 || groups[5] === 0xffff);
  // The unspecified address and ::1 are of this form, too.
  return isEmbedded && (isLoopbackAddress(dotted(high, low)) || (groups[5] === 0 && high === 0 && low <= 1));
}

/**
 * Returns the IPv4 address that packets to this IPv6 address end up at, if a translator does it.
 */
function translated(address: string): string | undefined {
  const groups = groupsOf(address);
  const isNat64 = groups[0] === 0x64 && groups[1] === 0xff9b;
  const [high, low] = isNat64 ? groups.slice(6) : groups[0] === 0x2002 ? groups.slice(1, 3) : [];
  if (high === undefined || low === undefined) return undefined;
  return dotted(high, low);
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** Returns the eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  // A URL's form of it has no dots and no zone.
  const text = new URL(`http://[${address.replace(/%.*$/, "")}]/`).hostname.slice(1, -1);
  const [head = "", tail] = text.split("::");
  const read = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const [before, after] = [read(head), read(tail ?? "")];
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}

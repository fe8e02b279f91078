/**
 * The key that clients without a token are counted under: the IPv4 address, or the /64 network of
 * an IPv6 address, because one host can use every address of its /64.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  // An IPv4 client of a socket that takes both kinds.
  if (address.includes(".")) return address.slice(address.lastIndexOf(":") + 1);
  const [before = "", after] = address.split("::");
  const groups = before === "" ? [] : before.split(":");
  if (after !== undefined) {
    const last = after === "" ? [] : after.split(":");
    while (groups.length + last.length < GROUPS) groups.push("0");
  }
  return `${groups.slice(0, GROUPS / 2).join(":")}::/64`;
}

const GROUPS = 8;

/**
 * Recognizes hosts that can only be this machine.
 *
 * Invariant: no resolver can map an accepted name to another host. So `a.localhost` is refused.
 */
import { isIPv4 } from "node:net";

/** Takes a host without its port. An IPv6 address may be in brackets. */
export function isLoopback(host: string): boolean {
  return (
    host === "localhost" ||
    host === "127.0.0.1" ||
    host === "::1" ||
    host === "[::1]" ||
    (host.startsWith("127.") && isIPv4(host))
  );
}

/**
 * Tells a gateway that only the user of this machine can reach: its clients without a credential
 * are that user's.
 */
import { isLoopback } from "../lib/text/loopback.ts";
import type { GatewayConfig } from "./schema/settings.ts";

/** A proxy in front of the gateway has other users. The config shows that there is one. */
export function isLocalOnly({ host, publicUrl, allowedHosts, trustedProxies, auth }: GatewayConfig): boolean {
  const { tokens, clients, oauth, pairing } = auth;
  const isOpen = tokens.length === 0 && Object.keys(clients).length === 0 && !oauth && !pairing;
  const hasProxy = publicUrl !== undefined || allowedHosts.length > 0 || trustedProxies.length > 0;
  return isOpen && isLoopback(host) && !hasProxy;
}

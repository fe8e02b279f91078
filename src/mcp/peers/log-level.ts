/**
 * Sets the minimum log level on a connected server that supports logging. Sends nothing for
 * undefined or "off".
 */
import type { Peer } from "./peer.ts";

export function setLogLevel(peer: Peer, level: string | undefined): void {
  if (level === undefined || level === "off" || !("logging" in peer.info.capabilities)) return;
  void peer.request("logging/setLevel", JSON.stringify({ level }));
}

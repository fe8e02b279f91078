/**
 * Asks a connected server for log messages from this level on, if it has such. Undefined or "off":
 * nothing is asked.
 */
import type { Peer } from "./peer.ts";

export function setLogLevel(peer: Peer, level: string | undefined): void {
  if (level === undefined || level === "off" || !("logging" in peer.info.capabilities)) return;
  void peer.request("logging/setLevel", JSON.stringify({ level }));
}

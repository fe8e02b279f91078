/**
 * How replicas talk to each other: HTTP inside of TLS whose key comes from the secret of the
 * cluster (a pre-shared key, with a fresh exchange for each connection).
 *
 * So both sides prove that they know the secret before either sends a byte of a request. Nobody
 * between them can read, change or repeat what they say. There are no certificates to renew.
 */
import { Agent, type ServerOptions } from "node:https";
import { clusterKey } from "./owners.ts";

/** Names the key. Another version of the channel would have another one. */
const IDENTITY = "goblin-1";
const TLS = {
  ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
  ecdhCurve: "X25519",
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.2",
} as const;
/** Connections that rest between two requests. */
const MAX_IDLE = 64;

/** The headers of a hand-over. The public side drops them from what clients send. */
export const OWNER_HEADER = "goblin-owner";
export const NETWORK_HEADER = "goblin-network";
/** A question of another replica, and on whose behalf it asks. */
export const ASKED_HEADER = "goblin-asked";
/** The answer of a process that is not the owner. */
export const NOT_MINE = 421;
/** The owner's answer if it has left the session to another replica. */
export const MOVED = 410;

export function listeningTls(secret: string): ServerOptions {
  const key = clusterKey(secret, "channel");
  return { ...TLS, pskCallback: (_socket: unknown, identity: string) => (identity === IDENTITY ? key : null) };
}

export function createAgent(secret: string): Agent {
  const psk = clusterKey(secret, "channel");
  return new Agent({
    ...TLS,
    keepAlive: true,
    maxFreeSockets: MAX_IDLE,
    // The server has no certificate: that it knows the key is the proof.
    checkServerIdentity: () => undefined,
    pskCallback: () => ({ psk, identity: IDENTITY }),
  });
}

/** Where to connect to. */
export function connectTo(address: string): { socketPath: string } | { host: string; port: number } {
  if (address.startsWith("unix:")) return { socketPath: address.slice("unix:".length) };
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(address.slice(colon + 1)) };
}

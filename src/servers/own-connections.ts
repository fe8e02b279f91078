/**
 * Connections that are one client's own, of a server that is not shared: how many there may be at
 * once, all together.
 *
 * A place is taken before a connection is made and left when the connection has surely gone, which
 * for a program is its end. Where all places are taken, a connection that is only kept for later
 * makes room; if there is none, the new one is refused.
 */

import type { Peer } from "../peers/peer.ts";
import type { Client } from "../protocol/call.ts";
import type { GoblinError } from "../protocol/errors.ts";
import { limitExceeded, type OnLimit } from "../protocol/limit-exceeded.ts";

export interface OwnConnection {
  readonly peer: Peer;
  close(): Promise<void>;
}

/**
 * The signal gives the attempt up; `closed` tells that the connection broke. Rejects when it cannot
 * be made.
 */
export type ConnectOwn = (
  owner: Client,
  closed: (error: GoblinError) => void,
  signal: AbortSignal,
) => Promise<OwnConnection>;

export interface OwnConnectionsOptions {
  readonly serverId: string;
  readonly limit: () => number;
  readonly onLimit: OnLimit;
  readonly connect: (owner: Client, closed: (error: GoblinError) => void, signal: AbortSignal) => Promise<Peer>;
  /** Closes a connection that is only kept for later; undefined: there is none. */
  readonly makeRoom: () => Promise<void> | undefined;
}

/** Makes connections as long as there are places for them. */
export function ownConnections(options: OwnConnectionsOptions): ConnectOwn {
  let taken = 0;
  const take = async (): Promise<() => void> => {
    while (taken >= options.limit()) {
      const room = options.makeRoom();
      if (!room) throw tooMany(options);
      await room;
    }
    taken++;
    let left = false;
    return () => {
      if (!left) taken--;
      left = true;
    };
  };
  return async (owner, closed, signal) => {
    const leave = await take();
    const lost = (error: GoblinError): void => {
      leave();
      closed(error);
    };
    try {
      const peer = await options.connect(owner, lost, signal);
      return { peer, close: () => peer.close().finally(leave) };
    } catch (error) {
      leave();
      throw error;
    }
  };
}

function tooMany({ serverId, limit, onLimit }: OwnConnectionsOptions): GoblinError {
  onLimit("connectionsPerServer");
  return limitExceeded({
    limit: "connectionsPerServer",
    value: limit(),
    what: `too many clients have a connection of their own to server "${serverId}"`,
    advice: "end a session that is not needed or try again later",
    data: { serverId },
  });
}

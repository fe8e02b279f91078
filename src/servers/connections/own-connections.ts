/**
 * Limits the number of connections that belong to single clients, for a server that is not shared.
 *
 * A connection takes a slot before it is made and frees it when it is certainly closed; for a
 * program, when the process has ended. If no slot is free, an idle connection is closed to make
 * room. Without an idle connection, the new one is refused.
 */

import type { Peer } from "../../peers/peer.ts";
import type { Client } from "../../protocol/call.ts";
import type { GoblinError } from "../../protocol/errors.ts";
import { limitExceeded, type OnLimit } from "../../protocol/limit-exceeded.ts";

export interface OwnConnection {
  readonly peer: Peer;
  close(): Promise<void>;
}

/**
 * `signal` aborts the attempt; `closed` is called when the connection breaks. Rejects if the
 * connection cannot be made.
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
  /** Closes an idle connection. Returns undefined if no connection is idle. */
  readonly makeRoom: () => Promise<void> | undefined;
}

/** Returns a connector that enforces the limit. */
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

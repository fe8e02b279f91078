/**
 * Limits the number of connections that belong to single clients, for a server that is not shared.
 * No account has more than its share of them.
 *
 * A connection takes a slot before it is made and frees it when it is certainly closed; for a
 * program, when the process has ended. If no slot is free, an idle connection is closed to make
 * room: one of the same account, or any for an account without connections. Otherwise the new one
 * is refused.
 */

import { Shares } from "../../../lib/structures/shares.ts";
import type { Peer } from "../../../mcp/peers/peer.ts";
import type { Client } from "../../../mcp/protocol/call.ts";
import type { GoblinError } from "../../../mcp/protocol/errors.ts";
import { limitExceeded, type OnLimit } from "../../../mcp/protocol/limit-exceeded.ts";

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
  /** Closes an idle connection, of this account or of any. Returns undefined if none is idle. */
  readonly makeRoom: (account?: string) => Promise<void> | undefined;
}

/** Returns a connector that enforces the limit. */
export function ownConnections(options: OwnConnectionsOptions): ConnectOwn {
  const shares = new Shares();
  const take = async ({ account }: Client): Promise<() => void> => {
    while (!shares.take(account, options.limit())) {
      // Another account's idle connection makes room only for a newcomer.
      const room = options.makeRoom(account) ?? (shares.of(account) === 0 ? options.makeRoom() : undefined);
      if (!room) throw tooMany(options, shares.total < options.limit() ? shares.of(account) : undefined);
      await room;
    }
    let left = false;
    return () => {
      if (!left) shares.giveBack(account);
      left = true;
    };
  };
  return async (owner, closed, signal) => {
    const leave = await take(owner);
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

/** `share`: the number of connections of an account that has its share. */
function tooMany({ serverId, limit, onLimit }: OwnConnectionsOptions, share: number | undefined): GoblinError {
  onLimit("connectionsPerServer");
  const many =
    share === undefined ? "too many clients have" : `this token or address has its share (${share}) of clients with`;
  return limitExceeded({
    limit: "connectionsPerServer",
    value: limit(),
    what: `${many} a connection of their own to server "${serverId}"`,
    advice: "end a session that is not needed or try again later",
    data: { serverId },
  });
}

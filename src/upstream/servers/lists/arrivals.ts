/**
 * What a client that comes waits for: the lists of servers that are starting, and connections and
 * lists of its own. Every wait is bounded.
 */

import { withTimeout } from "../../../lib/timing/with-timeout.ts";
import type { Call, Client } from "../../../mcp/protocol/call.ts";
import { shownTo } from "../../../mcp/protocol/principal.ts";
import type { Roster } from "../roster.ts";

/** How long the first list of a client may wait for connections of its own. */
const WELCOME_MS = 10_000;

export class Arrivals {
  readonly #roster: Roster;
  /** Clients that have come and wait for connections of their own. */
  readonly #preparing = new Map<string, Promise<void>>();

  constructor(roster: Roster) {
    this.#roster = roster;
  }

  /**
   * Resolves when the lists of starting servers are known, or have been waited for. Undefined: they
   * are known.
   */
  firstLists(client: Pick<Client, "account" | "info" | "visibility">): Promise<void> | undefined {
    return this.#roster.firstLists.wait(client);
  }

  /** The same for a client that must not answer a server before this resolves. */
  firstDescription(client: Pick<Client, "account" | "info" | "visibility">): Promise<void> | undefined {
    return this.#roster.firstLists.wait(client, true);
  }

  /**
   * Resolves when the lists that this client sees are known, or have been waited for: first those
   * of starting servers, then those of its own connections. Undefined: they are known.
   */
  listsFor(call: Call): Promise<void> | undefined {
    const { client } = call;
    const starting = this.firstLists(client);
    if (!starting) return this.preparing(client.key) ?? this.ownLists(client);
    return starting.then(() => {
      // A server that was starting when the client came may be known to need one now.
      if (!call.cancelled) this.welcome(client);
      return this.preparing(client.key) ?? this.ownLists(client);
    });
  }

  /**
   * Resolves when the lists of servers that this client's principal has a login of its own for are
   * known, or have been waited for. Undefined: they are known.
   */
  ownLists(client: Pick<Client, "principal">): Promise<void> | undefined {
    const waits: Promise<void>[] = [];
    for (const { callers } of this.#roster.values()) {
      const wait = callers?.prepare(client);
      if (wait) waits.push(wait);
    }
    return waits.length > 0 ? withTimeout(Promise.all(waits), WELCOME_MS, []).then(() => {}) : undefined;
  }

  /**
   * Prepares all servers that it sees for a client that has come. Its first lists wait for its own
   * ones.
   */
  welcome(client: Client): void {
    const seen = shownTo(client, [...this.#roster.values()]);
    const steps = seen.flatMap(
      (server) => server.callers?.prepare(client) ?? server.servingOf(client).backend.connections.welcome(client) ?? [],
    );
    if (steps.length === 0) return;
    const all = Promise.all(steps).then(() => {});
    const prepared = withTimeout(all, WELCOME_MS, undefined).finally(() => {
      if (this.#preparing.get(client.key) === prepared) this.#preparing.delete(client.key);
    });
    this.#preparing.set(client.key, prepared);
  }

  /** Returns a promise while the servers prepare themselves for a client. */
  preparing(clientKey: string): Promise<void> | undefined {
    return this.#preparing.size === 0 ? undefined : this.#preparing.get(clientKey);
  }
}

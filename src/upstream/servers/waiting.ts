/**
 * Holds requests for servers that are starting, until the requested entry is there.
 *
 * A request never waits for a server that is not starting. Every wait ends exactly once: with the
 * entry, with an error, or by cancellation, timeout or the loss of the client. Nothing of it is
 * kept after that.
 */

import type { LiveConfig } from "../../config/live-config.ts";
import { type Alarm, Alarms } from "../../lib/timing/alarms.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { Deadline } from "../../mcp/protocol/flight.ts";
import { limitExceeded, type OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import type { Viewer } from "../../mcp/protocol/principal.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ServerView, Snapshot } from "../catalog/snapshot.ts";
import type { Servers } from "./servers.ts";

export interface WaitingParts {
  readonly catalog: Catalog;
  readonly servers: Pick<Servers, "config" | "status">;
  readonly config: Pick<LiveConfig, "current">;
  readonly onLimit: OnLimit;
}

type Find<Found> = (snapshot: Snapshot) => Found;

export interface Asker {
  readonly client: Viewer;
  readonly call?: Call | undefined;
  /** The deadline of the request, which also limits the wait. */
  readonly deadline?: Deadline | undefined;
}

interface Waiter extends Alarm {
  readonly clientKey: string;
  /** The servers that it waits for. */
  awaits: readonly string[];
  /** Looks again. Ends the wait unless a server is still starting. */
  look(): void;
  abandon(error: GoblinError): void;
}

export class Waiting {
  readonly #parts: WaitingParts;
  readonly #waiters = new Set<Waiter>();
  readonly #alarms = new Alarms();
  /** The servers in the last snapshot, while anyone waits. */
  #seen = new Map<string, ServerView>();
  /** Lets those look again who wait for a server that has changed. */
  readonly #look = (): void => {
    const before = this.#seen;
    const now = viewsIn(this.#parts.catalog.snapshot);
    this.#seen = now;
    for (const waiter of this.#waiters) {
      if (waiter.awaits.some((id) => now.get(id) !== before.get(id))) waiter.look();
    }
  };

  constructor(parts: WaitingParts) {
    this.#parts = parts;
  }

  /** Returns the result now, or when the servers that it depends on have started. */
  async found<Found>(find: Find<Found>, asker: Asker): Promise<Found> {
    const { catalog } = this.#parts;
    const waits = catalog.ready(asker.client);
    if (waits) await waits;
    try {
      return find(catalog.view(asker.client));
    } catch (error) {
      if (!(error instanceof GoblinError) || !error.awaits) throw error;
      return this.#wait(find, asker, error);
    }
  }

  /** Ends all waits of a client that is gone. */
  release(clientKey: string): void {
    for (const waiter of this.#waiters) {
      if (waiter.clientKey === clientKey) waiter.abandon(cancelled());
    }
  }

  #wait<Found>(find: Find<Found>, { client, call, deadline }: Asker, first: GoblinError): Promise<Found> {
    const { key: clientKey } = client;
    this.#assertRoom(clientKey);
    return new Promise<Found>((resolve, reject) => {
      let last = first;
      const waiter: Waiter = {
        clientKey,
        awaits: first.awaits ?? [],
        due: 0,
        place: -1,
        look: () => {
          try {
            const found = find(this.#parts.catalog.view(client));
            this.#end(waiter);
            resolve(found);
          } catch (error) {
            if (error instanceof GoblinError && error.awaits) {
              last = error;
              waiter.awaits = error.awaits;
            } else {
              this.#end(waiter);
              reject(error);
            }
          }
        },
        abandon: (error) => {
          this.#end(waiter);
          reject(error);
        },
        ring: () => waiter.abandon(this.#withReason(last)),
      };
      if (this.#waiters.size === 0) this.#listen();
      this.#waiters.add(waiter);
      call?.onCancel((reason) => {
        if (this.#waiters.has(waiter)) waiter.abandon(reason === "timeout" ? this.#withReason(last) : cancelled());
      });
      if (deadline) return;
      const { servers, config } = this.#parts;
      const limitMs = servers.config(first.awaits![0]!)?.timeoutMs ?? config.current.timeouts.callMs;
      this.#alarms.set(waiter, performance.now() + limitMs);
    });
  }

  /** Says what the server is doing, as far as it is known. */
  #withReason(error: GoblinError): GoblinError {
    const reason = this.#parts.servers.status(error.awaits?.[0] ?? "")?.reason;
    if (reason === undefined) return error;
    return new GoblinError(error.code, `${error.message}: ${reason}`, { data: error.data, cause: error });
  }

  #assertRoom(clientKey: string): void {
    const most = this.#parts.config.current.limits.inFlightPerSession;
    if (this.#waiters.size < most) return;
    let own = 0;
    for (const waiter of this.#waiters) if (waiter.clientKey === clientKey) own++;
    if (own < most) return;
    this.#parts.onLimit("inFlightPerSession");
    throw limitExceeded({
      limit: "inFlightPerSession",
      value: most,
      what: "too many requests of this client wait for servers that are starting",
      advice: "wait for one to be answered",
    });
  }

  #listen(): void {
    const { catalog } = this.#parts;
    this.#seen = viewsIn(catalog.snapshot);
    catalog.on("snapshot", this.#look);
  }

  #end(waiter: Waiter): void {
    this.#alarms.clear(waiter);
    this.#waiters.delete(waiter);
    if (this.#waiters.size > 0) return;
    this.#parts.catalog.off("snapshot", this.#look);
    this.#seen = new Map();
  }
}

function viewsIn({ servers }: Snapshot): Map<string, ServerView> {
  return new Map(servers.map((server) => [server.id, server]));
}

function cancelled(): GoblinError {
  return new GoblinError("CANCELLED", "Cancelled before the server had started");
}

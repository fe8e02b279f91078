/**
 * One server as calls reach it: first the breaker and the bulkhead, then one of its connections.
 *
 * A request that may have reached the server is never sent twice. A request that was certainly not
 * sent may wait for a reconnect in progress. Every call is answered.
 */

import type { Config } from "../../config/schema/config.ts";
import type { ServerConfig } from "../../config/schema/server.ts";
import type { SharedBudget } from "../../lib/structures/shared-budget.ts";
import type { Connect } from "../../mcp/peers/negotiate.ts";
import type { Peer, PeerEvents, PeerInfo } from "../../mcp/peers/peer.ts";
import type { Client } from "../../mcp/protocol/call.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import { type Answer, type ErrorAnswer, failure } from "../../mcp/protocol/json-rpc.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import type { ServerState } from "../../mcp/protocol/server-states.ts";
import { Breaker, type BreakerStanding } from "./breaker.ts";
import { Bulkhead, type BulkheadLimits } from "./bulkhead.ts";
import { Connections } from "./connections/connections.ts";
import { withRetry } from "./connections/refusals.ts";
import type { SESSIONS } from "./owner.ts";

export interface BackendStatus {
  readonly state: ServerState;
  readonly reason: string | undefined;
  /** When the state began, in milliseconds since the epoch. */
  readonly since: number;
  readonly restarts: number;
  readonly info: PeerInfo | undefined;
  readonly inFlight: number;
  readonly queued: number;
  readonly retryAfterMs: number | undefined;
}

export interface BackendHooks {
  /**
   * A connection is established. Resolves when the lists have been fetched, with the problem if
   * some could not be.
   */
  connected(peer: Peer): Promise<string | undefined>;
  status(status: BackendStatus): void;
  /** A user restarts the server. */
  restarting(): void;
  /**
   * Returns the event handlers for a connection. `owner`: its client, if the connection is not
   * shared.
   */
  events(owner: Client | typeof SESSIONS | undefined): Omit<PeerEvents, "closed">;
  /** The connection of clients with a session is there; `again`: after a loss. */
  sessionsConnected(peer: Peer, again: boolean): void;
  /**
   * Returns whether a client's broken connection must be restored before the client's next call.
   */
  wantsOwned(scope: string): boolean;
  ownedRestored(scope: string): void;
  /** The server answered a client's call with an error. */
  refused(answer: ErrorAnswer, client: Client): void;
  /** A session's own connection is established. Resolves when its lists have been fetched. */
  ownConnected(owner: Client, peer: Peer): Promise<void>;
}

export interface BackendLimits extends BulkheadLimits {
  /**
   * The maximum number of connections that belong to single clients, if the server is not shared.
   */
  readonly connections: number;
}

export interface BackendOptions {
  readonly id: string;
  readonly share: ServerConfig["share"];
  /** Whether a start may take long because something is installed first. */
  readonly installs: boolean;
  /** Must release everything when the signal aborts. */
  readonly connect: Connect;
  /** Why the server must never be started. */
  readonly invalid?: string | undefined;
  readonly limits: BackendLimits;
  readonly onLimit: OnLimit;
  readonly hooks: BackendHooks;
}

export function backendLimits({ limits }: Config): BackendLimits {
  const { inFlightPerServer: inFlight, queuePerServer: queue, connectionsPerServer: connections } = limits;
  return { inFlight, queue, connections };
}

export class Backend {
  readonly id: string;
  readonly connections: Connections;
  readonly #hooks: BackendOptions["hooks"];
  readonly #bulkhead: Bulkhead;
  readonly #breaker = new Breaker({ failures: 5, openMs: 2000, maxOpenMs: 30_000 });
  #limits: BackendLimits;

  constructor(options: BackendOptions) {
    this.id = options.id;
    this.#hooks = options.hooks;
    this.#limits = options.limits;
    this.#bulkhead = new Bulkhead(options.limits, options.onLimit);
    this.connections = new Connections({
      ...options,
      limit: () => this.#limits.connections,
      connected: () => this.#breaker.succeeded(),
      changed: () => options.hooks.status(this.status),
    });
  }

  get status(): BackendStatus {
    const { state, reason, since, restarts, retryAfterMs, peer } = this.connections.shared;
    const { active: inFlight, queued } = this.#bulkhead;
    return { state, reason, since, restarts, retryAfterMs, info: peer?.info, inFlight, queued };
  }

  get peer(): Peer | undefined {
    return this.connections.shared.peer;
  }

  /** Resolves when the first attempt has succeeded or failed. */
  start(): Promise<void> {
    return this.connections.shared.start();
  }

  restart(): Promise<void> {
    this.#hooks.restarting();
    return this.connections.restart();
  }

  stop(reason = "disabled"): Promise<void> {
    return this.connections.stop(reason);
  }

  get breaker(): BreakerStanding {
    return this.#breaker.standing;
  }

  /** Waits until no call is in flight, but not longer than `ms`. */
  async drained(ms: number): Promise<void> {
    const end = Date.now() + ms;
    while (this.#bulkhead.active > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** Its places for calls, as all gateways share them. */
  get budget(): SharedBudget {
    const { active, queued } = this.#bulkhead;
    return {
      name: `server ${this.id}`,
      limit: this.#limits.inFlight,
      demand: active + queued,
      inUse: active,
      isWhole: true,
      grant: (part) => this.#bulkhead.grant(part),
    };
  }

  configure(limits: BackendLimits): void {
    this.#limits = limits;
    this.#bulkhead.configure(limits);
  }

  /** Sends a client's request; `params` is raw JSON with the server's own identifiers. */
  async forward(method: string, params: string, flight: Flight): Promise<Answer> {
    const { call } = flight;
    const { connections } = this;
    const { state, reason } = connections.shared;
    if (state === "needs-login") return connections.loginRequired(reason);
    if (state === "down" || state === "disabled" || state === "invalid") return connections.unavailable();
    const openMs = this.#breaker.retryAfterMs();
    if (openMs > 0) return connections.unavailable("it failed several times in a row", openMs);
    try {
      const place = this.#bulkhead.enter(call, this.id);
      if (place) await place;
    } catch (error) {
      this.#breaker.abandoned();
      return { ...failure(error), unsent: true };
    }
    try {
      const shared = connections.shared.peer;
      const peer = connections.peerFor(call.client);
      flight.sentAt = performance.now();
      let answer = await connections.send(method, params, flight);
      if (!answer.ok && answer.unsent && !call.cancelled) {
        // Retry only if there is a new connection, or one in progress.
        const isNew = connections.shared.peer !== shared || connections.peerFor(call.client) !== peer;
        if (isNew || connections.shared.isConnecting) answer = await connections.send(method, params, flight);
      }
      flight.answeredAt = performance.now();
      if (!answer.ok) this.#hooks.refused(answer, call.client);
      this.#judge(answer, flight);
      return answer.ok || answer.symbol !== "BACKEND_UNAVAILABLE"
        ? answer
        : withRetry(answer, connections.retryAfterMs);
    } finally {
      this.#bulkhead.leave(call);
    }
  }

  /**
   * Only transport errors count against the server's health. A tool that is slow for one client
   * must never block the server for others.
   */
  #judge(answer: Answer, { call }: Flight): void {
    this.connections.shared.heard();
    if (!answer.ok && answer.symbol === "BACKEND_UNAVAILABLE") this.#breaker.failed();
    else if (call.cancelled || (!answer.ok && answer.unsent)) this.#breaker.abandoned();
    else this.#breaker.succeeded();
    this.connections.shared.setCallProblem(this.#breaker.isOpen ? "calls fail" : undefined);
  }
}

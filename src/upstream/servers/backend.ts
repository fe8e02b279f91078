/**
 * One server as calls reach it: first the breaker and the bulkhead, then one of its connections.
 *
 * A request that may have reached the server is never sent twice. A request that was certainly not
 * sent may wait for a reconnect in progress. Every call is answered.
 */

import type { SharedBudget } from "../../lib/structures/shared-budget.ts";
import type { Peer } from "../../mcp/peers/peer.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import { type Answer, failure } from "../../mcp/protocol/json-rpc.ts";
import type { BackendLimits, BackendOptions, BackendStatus } from "./backend-options.ts";
import { Breaker, type BreakerStanding } from "./breaker.ts";
import { Bulkhead } from "./bulkhead.ts";
import { Connections } from "./connections/connections.ts";
import { withRetry } from "./connections/refusals.ts";

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

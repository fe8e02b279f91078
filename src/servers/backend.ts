/**
 * One server as calls reach it: first the breaker and the bulkhead, then the shared connection or
 * the client's own.
 *
 * A request that may have reached the server is never sent twice. A request that was certainly not
 * sent may wait for a reconnect in progress. Every call is answered.
 */

import { memberText, setMember } from "../json/json-text.ts";
import type { Peer, PeerEvents, PeerInfo } from "../peers/peer.ts";
import type { Client } from "../protocol/call.ts";
import { GoblinError, messageOf } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import { type Answer, type ErrorAnswer, failure } from "../protocol/json-rpc.ts";
import type { OnLimit } from "../protocol/limit-exceeded.ts";
import type { ServerState } from "../protocol/server-states.ts";
import { Breaker } from "./breaker.ts";
import { Bulkhead, type BulkheadLimits } from "./bulkhead.ts";
import { ExclusivePeerPool } from "./connections/exclusive-peer-pool.ts";
import { ownConnections } from "./connections/own-connections.ts";
import { SessionPeers } from "./connections/session-peers.ts";
import { SharedConnection, type Start } from "./connections/shared-connection.ts";

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
  /**
   * Returns the event handlers for a connection. `owner`: its client, if the connection is not
   * shared.
   */
  events(owner: Client | undefined): Omit<PeerEvents, "closed">;
  /**
   * Returns whether a client's broken connection must be restored before the client's next call.
   */
  wantsOwned(scope: string): boolean;
  ownedRestored(scope: string): void;
}

export interface BackendLimits extends BulkheadLimits {
  /**
   * The maximum number of connections that belong to single clients, if the server is not shared.
   */
  readonly connections: number;
}

export interface BackendOptions {
  readonly id: string;
  readonly share: "all" | "session";
  /** Whether a start may take long because something is installed first. */
  readonly installs: boolean;
  /** Must release everything when the signal aborts. */
  readonly connect: (events: PeerEvents, owner: Client | undefined, signal: AbortSignal) => Promise<Peer>;
  /** Why the server must never be started. */
  readonly invalid?: string | undefined;
  readonly limits: BackendLimits;
  readonly onLimit: OnLimit;
  readonly hooks: BackendHooks;
}

/** When to ask again after a client's own connection broke. */
const OWN_AGAIN_MS = 500;

export class Backend {
  readonly id: string;
  readonly #options: BackendOptions;
  readonly #connection: SharedConnection;
  readonly #bulkhead: Bulkhead;
  readonly #breaker = new Breaker({ failures: 5, openMs: 2000, maxOpenMs: 30_000 });
  readonly #owned: SessionPeers;
  readonly #lent: ExclusivePeerPool;
  #limits: BackendLimits;

  constructor(options: BackendOptions) {
    const { hooks } = options;
    this.id = options.id;
    this.#options = options;
    this.#connection = new SharedConnection({
      connect: (closed, signal) => options.connect({ ...hooks.events(undefined), closed }, undefined, signal),
      connected: (peer) => {
        this.#breaker.succeeded();
        return hooks.connected(peer);
      },
      changed: () => hooks.status(this.status),
      installs: options.installs,
      invalid: options.invalid,
    });
    this.#bulkhead = new Bulkhead(options.limits, options.onLimit);
    this.#limits = options.limits;
    const connect = ownConnections({
      serverId: options.id,
      limit: () => this.#limits.connections,
      onLimit: options.onLimit,
      connect: (owner, closed, signal) => options.connect({ ...hooks.events(owner), closed }, owner, signal),
      makeRoom: (account) => this.#lent.makeRoom(account),
    });
    this.#lent = new ExclusivePeerPool(connect);
    this.#owned = new SessionPeers({
      connect,
      wants: (scope) => hooks.wantsOwned(scope),
      restored: (scope) => hooks.ownedRestored(scope),
    });
  }

  get status(): BackendStatus {
    const { state, reason, since, restarts, retryAfterMs, peer } = this.#connection;
    const { active: inFlight, queued } = this.#bulkhead;
    return { state, reason, since, restarts, retryAfterMs, info: peer?.info, inFlight, queued };
  }

  get peer(): Peer | undefined {
    return this.#connection.peer;
  }

  /** Resolves when the first attempt has succeeded or failed. */
  start(): Promise<void> {
    return this.#connection.start();
  }

  async restart(): Promise<void> {
    await Promise.all([this.#owned.closeAll(), this.#lent.closeAll()]);
    await this.#connection.restart();
  }

  async stop(reason = "disabled"): Promise<void> {
    await Promise.all([this.#connection.stop(reason), this.#owned.closeAll(), this.#lent.closeAll()]);
  }

  /** Returns the client's own connection. Rejects if it cannot be made. */
  peerOf(owner: Client): Promise<Peer> {
    return this.#owned.of(owner);
  }

  /** Returns whether a client has its own connection, or one that is being restored. */
  hasOwned(clientKey: string): boolean {
    return this.#owned.has(clientKey);
  }

  /** Waits until no call is in flight, but not longer than `ms`. */
  async drained(ms: number): Promise<void> {
    const end = Date.now() + ms;
    while (this.#bulkhead.active > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  configure(limits: BackendLimits): void {
    this.#limits = limits;
    this.#bulkhead.configure(limits);
  }

  /** Closes the connection of a client that is gone. */
  release(clientKey: string): void {
    this.#owned.release(clientKey);
  }

  /** Sends a notification on the client's own connection, if it has one. */
  notifyOwned(clientKey: string, method: string): void {
    this.#owned.notify(clientKey, method);
  }

  /** Sets the client's log level on its own connection, if it has one. */
  setOwnedLogLevel(owner: Client): void {
    this.#owned.setLogLevel(owner);
  }

  /** Tells what the attempt to connect is doing. */
  starting(start: Start): void {
    this.#connection.starting(start);
  }

  /** Tells what the server said in place of a handshake. */
  setHint(hint: string): void {
    this.#connection.setHint(hint);
  }

  /** Connects at once, if a login was all that was missing. */
  loggedIn(): void {
    this.#connection.loggedIn();
  }

  /** Sets what the server wants beyond the login that it has; undefined clears it. */
  setLoginProblem(problem: string | undefined): void {
    this.#connection.setLoginProblem(problem);
  }

  /** Sets the problem with the server's lists; undefined clears it. */
  setListProblem(problem: string | undefined): void {
    this.#connection.setListProblem(problem);
  }

  /** Sends a client's request; `params` is raw JSON with the server's own identifiers. */
  async forward(method: string, params: string, flight: Flight): Promise<Answer> {
    const { call } = flight;
    const { state } = this.#connection;
    if (state === "needs-login") return this.#loginRequired(this.#connection.reason);
    if (state === "down" || state === "disabled" || state === "invalid") return this.#unavailable();
    const openMs = this.#breaker.retryAfterMs();
    if (openMs > 0) return this.#unavailable("it failed several times in a row", openMs);
    try {
      const place = this.#bulkhead.enter(call, this.id);
      if (place) await place;
    } catch (error) {
      this.#breaker.abandoned();
      return failure(error);
    }
    try {
      const { peer } = this.#connection;
      flight.sentAt = performance.now();
      let answer = await this.#send(method, params, flight);
      // Retry only if there is a new connection, or one in progress.
      const mayRetry = !answer.ok && answer.unsent && !call.cancelled;
      const isOther = this.#connection.isConnecting || this.#connection.peer !== peer;
      if (mayRetry && isOther) answer = await this.#send(method, params, flight);
      flight.answeredAt = performance.now();
      this.#judge(answer, flight);
      return answer.ok || answer.symbol !== "BACKEND_UNAVAILABLE" ? answer : this.#withRetry(answer);
    } finally {
      this.#bulkhead.leave(call);
    }
  }

  #send(method: string, params: string, flight: Flight): Promise<Answer> {
    const peer = this.#options.share === "all" ? this.#connection.peer : undefined;
    return peer ? peer.request(method, params, flight) : this.#sendLater(method, params, flight);
  }

  /** Sends once a connection is available. A cancelled call stops waiting. */
  #sendLater(method: string, params: string, flight: Flight): Promise<Answer> {
    return new Promise((resolve, reject) => {
      flight.call.onCancel(() => resolve(failure(new GoblinError("CANCELLED", "Cancelled before it was answered"))));
      this.#sendConnected(method, params, flight).then(resolve, reject);
    });
  }

  async #sendConnected(method: string, params: string, flight: Flight): Promise<Answer> {
    const { call } = flight;
    const shared = await this.#connection.available();
    if (!shared) {
      const { state, reason } = this.#connection;
      return state === "needs-login" ? this.#loginRequired(reason) : this.#unavailable();
    }
    if (call.cancelled) return failure(new GoblinError("CANCELLED", "Cancelled before it was sent"));
    if (this.#options.share === "all") return shared.request(method, params, flight);
    try {
      const { client } = call;
      if (client.hasSession) return await (await this.#owned.of(client)).request(method, params, flight);
      if (shared.keepsNothing) return await shared.request(method, params, flight);
      return await this.#lent.use(call, params, (peer) => peer.request(method, params, flight));
    } catch (error) {
      if (error instanceof GoblinError && error.code === "LIMIT_EXCEEDED") return { ...failure(error), unsent: true };
      if (error instanceof GoblinError && error.reason === "login") return this.#loginRequired(error.message);
      return this.#unavailable(messageOf(error));
    }
  }

  /** No fault of the server: the breaker does not count it. */
  #loginRequired(message = `Server "${this.id}" needs a login`): Answer {
    const data = { serverId: this.id, remedy: `goblin login ${this.id}` };
    return { ...failure(new GoblinError("LOGIN_REQUIRED", message, { data })), unsent: true };
  }

  /**
   * Only transport errors count against the server's health. A tool that is slow for one client
   * must never block the server for others.
   */
  #judge(answer: Answer, { call }: Flight): void {
    this.#connection.heard();
    if (!answer.ok && answer.symbol === "BACKEND_UNAVAILABLE") this.#breaker.failed();
    else if (call.cancelled || (!answer.ok && answer.unsent)) this.#breaker.abandoned();
    else this.#breaker.succeeded();
    this.#connection.setCallProblem(this.#breaker.isOpen ? "calls fail" : undefined);
  }

  /** A client's own connection is made again with its next request. */
  get #retryAfterMs(): number | undefined {
    const { retryAfterMs, state } = this.#connection;
    return retryAfterMs ?? (this.#options.share === "session" && state !== "disabled" ? OWN_AGAIN_MS : undefined);
  }

  /** While the server is reconnected, its errors say when to try again. */
  #withRetry(answer: ErrorAnswer): Answer {
    const retryAfterMs = this.#retryAfterMs;
    const data = memberText(answer.raw, "data") ?? "{}";
    if (retryAfterMs === undefined || memberText(data, "retryAfterMs") !== undefined) return answer;
    return { ...answer, raw: setMember(answer.raw, "data", setMember(data, "retryAfterMs", String(retryAfterMs))) };
  }

  #unavailable(reason = this.#connection.reason ?? this.#connection.state, retryAfterMs = this.#retryAfterMs): Answer {
    const data = { serverId: this.id, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    return failure(new GoblinError("BACKEND_UNAVAILABLE", `Server "${this.id}" is unavailable: ${reason}`, { data }));
  }
}

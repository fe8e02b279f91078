/**
 * One server as calls reach it: first the breaker and the bulkhead, then the shared connection, the
 * one that clients with a session share, or the client's own.
 *
 * A request that may have reached the server is never sent twice. A request that was certainly not
 * sent may wait for a reconnect in progress. Every call is answered.
 */

import type { Peer, PeerEvents } from "../peers/peer.ts";
import type { Client } from "../protocol/call.ts";
import { GoblinError, messageOf } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import { type BackendLimits, type BackendOptions, type BackendStatus, SESSIONS } from "./backend-options.ts";
import { Breaker } from "./breaker.ts";
import { Bulkhead } from "./bulkhead.ts";
import { CallHold } from "./connections/call-hold.ts";
import { ExclusivePeerPool } from "./connections/exclusive-peer-pool.ts";
import { ownConnections } from "./connections/own-connections.ts";
import { OwnStart } from "./connections/own-start.ts";
import { Ownership } from "./connections/ownership.ts";
import { loginRequired, unavailable, withRetry } from "./connections/refusals.ts";
import { SessionPeers } from "./connections/session-peers.ts";
import { SessionsConnection } from "./connections/sessions-connection.ts";
import { SharedConnection, type Start } from "./connections/shared-connection.ts";

/** When to ask again after a client's own connection broke. */
const OWN_AGAIN_MS = 500;
export class Backend {
  readonly id: string;
  readonly #options: BackendOptions;
  readonly #connection: SharedConnection;
  /** The shared connection of clients with a session, if the server wants them on another one. */
  readonly #sessions: SessionsConnection;
  readonly #bulkhead: Bulkhead;
  readonly #breaker = new Breaker({ failures: 5, openMs: 2000, maxOpenMs: 30_000 });
  readonly #owned: SessionPeers;
  readonly #lent: ExclusivePeerPool;
  readonly ownership: Ownership;
  readonly #held = new CallHold();
  #limits: BackendLimits;

  constructor(options: BackendOptions) {
    const { hooks } = options;
    this.id = options.id;
    this.#options = options;
    this.ownership = new Ownership(options.share);
    this.#connection = new SharedConnection({
      connect: (closed, signal) => options.connect({ ...hooks.events(undefined), closed }, { signal }),
      connected: (peer) => {
        this.#breaker.succeeded();
        this.#sessions.renew(peer);
        return hooks.connected(peer);
      },
      changed: () => hooks.status(this.status),
      installs: options.installs,
      invalid: options.invalid,
    });
    this.#sessions = new SessionsConnection({
      connect: (closed, signal) =>
        options.connect({ ...hooks.events(SESSIONS), closed }, { signal, forSessions: true }),
      connected: (peer, again) => hooks.sessionsConnected(peer, again),
      problem: (message) => hooks.events(undefined).problem(message),
    });
    this.#bulkhead = new Bulkhead(options.limits, options.onLimit);
    this.#limits = options.limits;
    const connect = ownConnections({
      serverId: options.id,
      limit: () => this.#limits.connections,
      onLimit: options.onLimit,
      connect: (owner, closed, signal) => this.#connectOwn(owner, closed, signal),
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
    await Promise.all([this.#sessions.stop(), this.#owned.closeAll(), this.#lent.closeAll()]);
    await this.#connection.restart();
  }

  async stop(reason = "disabled"): Promise<void> {
    await Promise.all([
      this.#connection.stop(reason),
      this.#sessions.stop(),
      this.#owned.closeAll(),
      this.#lent.closeAll(),
    ]);
  }

  /** The connection that clients with a session share, if it is another one and open. */
  get sessionsPeer(): Peer | undefined {
    return this.#sessions.peer;
  }

  /**
   * Opens the connection of a client that is about to use the server. Returns a promise if that
   * takes time; it never rejects.
   */
  prepare(client: Client): Promise<unknown> | undefined {
    if (this.#isOwn(client)) return client.hasSession ? this.#owned.of(client).catch(() => {}) : undefined;
    return this.#isApart(client) && !this.#sessions.isDecided ? this.#sessions.available() : undefined;
  }

  /**
   * Opens the connection of a client that has come, where the server is known to need it. Returns a
   * promise if the connection is the client's own: what it lists may differ.
   */
  welcome(client: Client): Promise<unknown> | undefined {
    if (!this.#connection.peer) return undefined;
    const isOwn = this.#isOwn(client);
    if (isOwn && !this.ownership.isKnownNeed) return undefined;
    const prepared = this.prepare(client);
    return isOwn ? prepared : undefined;
  }

  /**
   * Lets calls on the shared connection wait until the server has the answer to a question that it
   * asked outside of a call, but not for long.
   */
  hold(answer: Promise<unknown>): void {
    this.#held.until(answer, () => this.#connection.peer);
  }

  /** Sends a client's notification on the connection that its requests take. */
  notify(client: Client, method: string, params: string): void {
    if (this.#owned.has(client.scope)) this.#owned.notify(client.scope, method, params);
    else this.#peerFor(client)?.notify(method, params);
  }

  /** Sends a notification of the only client, on the shared connections. */
  notifyShared(method: string): void {
    this.#connection.peer?.notify(method);
    this.#sessions.peer?.notify(method);
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
  notifyOwned(clientKey: string, method: string, params?: string): void {
    this.#owned.notify(clientKey, method, params);
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
      const shared = this.#connection.peer;
      const peer = this.#peerFor(call.client);
      flight.sentAt = performance.now();
      let answer = await this.#send(method, params, flight);
      // Retry only if there is a new connection, or one in progress.
      const mayRetry = !answer.ok && answer.unsent && !call.cancelled;
      const isNew = this.#connection.peer !== shared || this.#peerFor(call.client) !== peer;
      if (mayRetry && (isNew || this.#connection.isConnecting)) answer = await this.#send(method, params, flight);
      flight.answeredAt = performance.now();
      if (!answer.ok) this.#options.hooks.refused(answer, call.client);
      this.#judge(answer, flight);
      return answer.ok || answer.symbol !== "BACKEND_UNAVAILABLE" ? answer : withRetry(answer, this.#retryAfterMs);
    } finally {
      this.#bulkhead.leave(call);
    }
  }

  #send(method: string, params: string, flight: Flight): Promise<Answer> {
    const peer = this.#peerFor(flight.call.client);
    if (!peer) return this.#sendLater(method, params, flight);
    this.ownership.shares(flight.call.client);
    return peer.request(method, params, flight);
  }

  /** Returns the connection for a client's requests, unless it must be made first. */
  #peerFor(client: Client): Peer | undefined {
    if (this.#held.over || (this.ownership.isPossible && this.ownership.includes(client))) return undefined;
    const { peer } = this.#connection;
    if (!peer?.sessionsApart || !client.hasSession) return peer;
    return this.#sessions.isDecided ? (this.#sessions.peer ?? peer) : undefined;
  }

  /** Returns whether the client shares the connection that only clients with a session use. */
  #isApart({ hasSession }: Client): boolean {
    return hasSession && this.#connection.peer?.sessionsApart === true;
  }

  #isOwn(client: Client): boolean {
    return this.ownership.isPossible && this.ownership.includes(client);
  }

  async #connectOwn(owner: Client, closed: PeerEvents["closed"], signal: AbortSignal): Promise<Peer> {
    const { hooks, connect } = this.#options;
    const events = { ...hooks.events(owner), closed };
    if (!owner.hasSession) return connect(events, { owner, signal });
    const start = new OwnStart(this.ownership.expected(owner));
    const peer = await connect({ ...events, ask: start.follow(events.ask) }, { owner, signal });
    if (!signal.aborted) await start.over(peer, (connected) => hooks.ownConnected(owner, connected), signal);
    return peer;
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
    if (this.#held.over) await this.#held.over;
    if (!this.#isOwn(call.client)) {
      const apart = this.#isApart(call.client) ? await this.#sessions.available() : undefined;
      this.ownership.shares(call.client);
      return (apart ?? shared).request(method, params, flight);
    }
    try {
      const { client } = call;
      if (client.hasSession) return await (await this.#owned.of(client)).request(method, params, flight);
      if (shared.keepsNothing) return await shared.request(method, params, flight);
      return await this.#lent.use(call, params, (peer) => peer.request(method, params, flight));
    } catch (error) {
      const isFull = error instanceof GoblinError && error.code === "LIMIT_EXCEEDED";
      if (isFull && this.ownership.mayShare) return shared.request(method, params, flight);
      if (isFull) return { ...failure(error), unsent: true };
      if (error instanceof GoblinError && error.reason === "login") return this.#loginRequired(error.message);
      return this.#unavailable(messageOf(error));
    }
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
    return retryAfterMs ?? (this.ownership.isPossible && state !== "disabled" ? OWN_AGAIN_MS : undefined);
  }

  #loginRequired(message?: string): Answer {
    return loginRequired(this.id, message);
  }

  #unavailable(reason = this.#connection.reason ?? this.#connection.state, retryAfterMs = this.#retryAfterMs): Answer {
    return unavailable(this.id, reason, retryAfterMs);
  }
}

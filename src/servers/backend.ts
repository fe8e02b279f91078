/**
 * One server under supervision: it is connected, watched, connected again without end, and asked
 * only while that makes sense.
 *
 * One visible state: connecting, ready, degraded (connected, but the breaker is open or a list
 * could not be fetched), down (waiting for the next attempt), disabled. A request that may have
 * reached the server is never sent a second time; one that surely has not may wait for a reconnect
 * that is under way. Every call is answered; every timer and connection ends with `stop`.
 */

import type { Peer, PeerEvents, PeerInfo } from "../peers/peer.ts";
import type { Client } from "../protocol/call.ts";
import { GoblinError, messageOf } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import type { OnLimit } from "../protocol/limit-exceeded.ts";
import type { ServerState } from "../protocol/server-states.ts";
import { backoffMs } from "../timing/backoff.ts";
import { withTimeout } from "../timing/with-timeout.ts";
import { Breaker } from "./breaker.ts";
import { Bulkhead, type BulkheadLimits } from "./bulkhead.ts";
import { ExclusivePeerPool } from "./exclusive-peer-pool.ts";
import { ownConnections } from "./own-connections.ts";
import { SessionPeers } from "./session-peers.ts";

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
   * A connection stands; ends when its lists have been fetched, with what is wrong if not all could
   * be.
   */
  connected(peer: Peer): Promise<string | undefined>;
  status(status: BackendStatus): void;
  /** What a connection reports; `owner` is the client it was made for, if it is not shared. */
  events(owner: Client | undefined): Omit<PeerEvents, "closed">;
  /**
   * Whether a client's own connection that broke is to be made again without waiting for its next
   * call.
   */
  wantsOwned(scope: string): boolean;
  ownedRestored(scope: string): void;
}

export interface BackendLimits extends BulkheadLimits {
  /** How many connections of clients' own there may be, where the server is not shared. */
  readonly connections: number;
}

export interface BackendOptions {
  readonly id: string;
  readonly share: "all" | "session";
  /** Gives up, and leaves nothing behind, when the signal says so. */
  readonly connect: (events: PeerEvents, owner: Client | undefined, signal: AbortSignal) => Promise<Peer>;
  readonly limits: BackendLimits;
  readonly onLimit: OnLimit;
  readonly hooks: BackendHooks;
}

const WAIT_FOR_CONNECT_MS = 10_000;
const STABLE_MS = 60_000;
const PROBE_EVERY_MS = 30_000;
const PROBE_TIMEOUT_MS = 10_000;

export class Backend {
  readonly id: string;
  readonly #options: BackendOptions;
  readonly #bulkhead: Bulkhead;
  readonly #breaker = new Breaker({ failures: 5, openMs: 2000, maxOpenMs: 30_000 });
  readonly #owned: SessionPeers;
  readonly #lent: ExclusivePeerPool;
  #limits: BackendLimits;
  #peer: Peer | undefined;
  #state: ServerState = "disabled";
  #reason: string | undefined;
  #since = Date.now();
  #attempt = 0;
  #restarts = 0;
  #nextAttemptAt: number | undefined;
  #readySince = 0;
  #wasReady = false;
  #abort: AbortController | undefined;
  #lastTraffic = 0;
  #connecting: Promise<void> | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #probeTimer: NodeJS.Timeout | undefined;
  /** Counts starts and stops, so that what began before one is ignored after it. */
  #epoch = 0;

  constructor(options: BackendOptions) {
    this.id = options.id;
    this.#options = options;
    this.#bulkhead = new Bulkhead(options.limits, options.onLimit);
    this.#limits = options.limits;
    const connect = ownConnections({
      serverId: options.id,
      limit: () => this.#limits.connections,
      onLimit: options.onLimit,
      connect: (owner, closed, signal) => options.connect({ ...options.hooks.events(owner), closed }, owner, signal),
      makeRoom: () => this.#lent.makeRoom(),
    });
    this.#lent = new ExclusivePeerPool(connect);
    this.#owned = new SessionPeers({
      connect,
      wants: (scope) => options.hooks.wantsOwned(scope),
      restored: (scope) => options.hooks.ownedRestored(scope),
    });
  }

  get status(): BackendStatus {
    return {
      state: this.#state,
      reason: this.#reason,
      since: this.#since,
      restarts: this.#restarts,
      info: this.#peer?.info,
      inFlight: this.#bulkhead.active,
      queued: this.#bulkhead.queued,
      retryAfterMs: this.#nextAttemptAt === undefined ? undefined : Math.max(0, this.#nextAttemptAt - Date.now()),
    };
  }

  get peer(): Peer | undefined {
    return this.#peer;
  }

  /** Ends when the first attempt has succeeded or failed. */
  start(): Promise<void> {
    this.#epoch++;
    this.#attempt = 0;
    this.#probeTimer ??= setInterval(() => void this.#probe(), PROBE_EVERY_MS).unref();
    return this.#connect();
  }

  async restart(): Promise<void> {
    await this.stop("restarting");
    this.#restarts++;
    await this.start();
  }

  async stop(reason = "disabled"): Promise<void> {
    this.#epoch++;
    clearTimeout(this.#retryTimer);
    clearInterval(this.#probeTimer);
    this.#probeTimer = undefined;
    this.#nextAttemptAt = undefined;
    const peer = this.#peer;
    this.#peer = undefined;
    this.#wasReady = false;
    this.#abort?.abort();
    this.#set("disabled", reason);
    await Promise.all([peer?.close(), this.#connecting, this.#owned.closeAll(), this.#lent.closeAll()]);
  }

  /** The connection that a client has of its own. Rejects when it cannot be made. */
  peerOf(owner: Client): Promise<Peer> {
    return this.#owned.of(owner);
  }

  /** Whether a client has a connection of its own, or one that is being made again. */
  hasOwned(clientKey: string): boolean {
    return this.#owned.has(clientKey);
  }

  /** Waits, within reason, until nothing is under way. */
  async drained(ms: number): Promise<void> {
    const end = Date.now() + ms;
    while (this.#bulkhead.active > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  configure(limits: BackendLimits): void {
    this.#limits = limits;
    this.#bulkhead.configure(limits);
  }

  /** The client is gone, and with it the connection that was its own. */
  release(clientKey: string): void {
    this.#owned.release(clientKey);
  }

  /** Tells the server about the client, on the client's own connection if it has one. */
  notifyOwned(clientKey: string, method: string): void {
    this.#owned.notify(clientKey, method);
  }

  /** The client wants other log messages than before, on its own connection if it has one. */
  setOwnedLogLevel(owner: Client): void {
    this.#owned.setLogLevel(owner);
  }

  /** Something about the connected server is not as it should be, or is again. */
  degrade(reason: string | undefined): void {
    if (this.#state === "ready" && reason) this.#set("degraded", reason);
    else if (this.#state === "degraded" && !reason) this.#set("ready");
  }

  /** Sends a client's request; `params` is raw JSON with the server's own identifiers. */
  async forward(method: string, params: string, flight: Flight): Promise<Answer> {
    const { call } = flight;
    if (this.#state === "down" || this.#state === "disabled") return this.#unavailable(this.#reason ?? this.#state);
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
      const peer = this.#peer;
      let answer = await this.#send(method, params, flight);
      // By now another connection may stand, or be about to.
      const mayRetry = !answer.ok && answer.unsent && !call.cancelled;
      if (mayRetry && (this.#connecting || this.#peer !== peer)) answer = await this.#send(method, params, flight);
      this.#judge(answer, flight);
      return answer;
    } finally {
      this.#bulkhead.leave();
    }
  }

  #send(method: string, params: string, flight: Flight): Promise<Answer> {
    const peer = this.#options.share === "all" ? this.#peer : undefined;
    return peer ? peer.request(method, params, flight) : this.#sendLater(method, params, flight);
  }

  /**
   * Where a connection has to be waited for; a call that is given up meanwhile does not wait on.
   */
  #sendLater(method: string, params: string, flight: Flight): Promise<Answer> {
    return new Promise((resolve, reject) => {
      flight.call.onCancel(() => resolve(failure(new GoblinError("CANCELLED", "Cancelled before it was answered"))));
      this.#sendConnected(method, params, flight).then(resolve, reject);
    });
  }

  async #sendConnected(method: string, params: string, flight: Flight): Promise<Answer> {
    const { call } = flight;
    const shared = this.#peer ?? (await this.#awaitPeer());
    if (!shared) return this.#unavailable(this.#reason ?? this.#state);
    if (call.cancelled) return failure(new GoblinError("CANCELLED", "Cancelled before it was sent"));
    if (this.#options.share === "all") return shared.request(method, params, flight);
    try {
      const { client } = call;
      if (client.scope === client.key) return await (await this.#owned.of(client)).request(method, params, flight);
      if (shared.keepsNothing) return await shared.request(method, params, flight);
      return await this.#lent.use(call, params, (peer) => peer.request(method, params, flight));
    } catch (error) {
      if (error instanceof GoblinError && error.code === "LimitExceeded") return { ...failure(error), unsent: true };
      return this.#unavailable(messageOf(error));
    }
  }

  /** The connection, if one is being made right now and stands in time. */
  async #awaitPeer(): Promise<Peer | undefined> {
    if (!this.#connecting) return undefined;
    await withTimeout(this.#connecting, WAIT_FOR_CONNECT_MS, undefined);
    return this.#peer;
  }

  #judge(answer: Answer, { call, deadline }: Flight): void {
    this.#lastTraffic = Date.now();
    const late = call.cancelled === "timeout" && !deadline?.expiredWhileAsking;
    const failed = late || (!answer.ok && answer.symbol === "BACKEND_UNAVAILABLE");
    if (failed) {
      this.#breaker.failed();
      if (this.#breaker.isOpen) this.degrade("calls fail or time out");
    } else if (call.cancelled || (!answer.ok && answer.unsent)) this.#breaker.abandoned();
    else {
      if (this.#breaker.isOpen) this.degrade(undefined);
      this.#breaker.succeeded();
    }
  }

  #unavailable(reason: string, retryAfterMs = this.status.retryAfterMs): Answer {
    const data = { serverId: this.id, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    return failure(new GoblinError("BACKEND_UNAVAILABLE", `Server "${this.id}" is unavailable: ${reason}`, { data }));
  }

  #connect(): Promise<void> {
    const epoch = this.#epoch;
    this.#nextAttemptAt = undefined;
    this.#set("connecting", this.#reason);
    this.#abort = new AbortController();
    const attempt = this.#tryConnect(epoch, this.#abort.signal).finally(() => {
      if (this.#connecting === attempt) this.#connecting = undefined;
    });
    this.#connecting = attempt;
    return attempt;
  }

  async #tryConnect(epoch: number, signal: AbortSignal): Promise<void> {
    const { connect, hooks } = this.#options;
    try {
      const closed = (error: GoblinError, renew = false): void => this.#lost(epoch, error.message, renew);
      const peer = await connect({ ...hooks.events(undefined), closed }, undefined, signal);
      if (epoch !== this.#epoch) return void (await peer.close());
      this.#peer = peer;
      this.#breaker.succeeded();
      this.#lastTraffic = this.#readySince = Date.now();
      const problem = await hooks.connected(peer);
      if (epoch !== this.#epoch || this.#peer !== peer) return;
      this.#wasReady = true;
      if (this.#state === "connecting") this.#set(problem ? "degraded" : "ready", problem);
    } catch (error) {
      this.#lost(epoch, messageOf(error));
    }
  }

  /** `renew`: the server is well and only wants a new connection, which is made at once. */
  #lost(epoch: number, reason: string, renew = false): void {
    if (epoch !== this.#epoch) return;
    this.#epoch++;
    this.#peer = undefined;
    if (this.#readySince > 0) this.#restarts++;
    const wasReady = this.#wasReady;
    this.#wasReady = false;
    if (renew && wasReady) {
      this.#readySince = 0;
      this.#reason = reason;
      return void this.#connect();
    }
    // A server that had been well for a while starts anew; one that crashes again and again waits
    // longer and longer.
    if (this.#readySince > 0 && Date.now() - this.#readySince > STABLE_MS) this.#attempt = 0;
    this.#readySince = 0;
    const delay = backoffMs(this.#attempt++);
    this.#nextAttemptAt = Date.now() + delay;
    this.#set("down", reason);
    this.#retryTimer = setTimeout(() => void this.#connect(), delay);
    this.#retryTimer.unref();
  }

  /**
   * A connection that has been silent is asked for a sign of life; one that gives none is replaced.
   */
  async #probe(): Promise<void> {
    const peer = this.#peer;
    if (!peer?.probe || Date.now() - this.#lastTraffic < PROBE_EVERY_MS || peer.inFlight > 0) return;
    const epoch = this.#epoch;
    const alive = await withTimeout(peer.probe(), PROBE_TIMEOUT_MS, false);
    if (alive || epoch !== this.#epoch) return;
    this.#lost(epoch, "it does not answer a ping");
    await peer.close();
  }

  #set(state: ServerState, reason?: string): void {
    if (state === this.#state && reason === this.#reason) return;
    if (state !== this.#state) this.#since = Date.now();
    this.#state = state;
    this.#reason = state === "ready" ? undefined : reason;
    this.#options.hooks.status(this.status);
  }
}

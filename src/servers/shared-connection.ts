/**
 * The connection to one server that all clients share, under supervision: it is made, watched, and
 * made again without end, with growing pauses.
 *
 * One visible state (`protocol/server-states.ts`) with its reason. Every timer and attempt ends
 * with `stop`; what began before a start or a stop is ignored after it.
 */
import type { Peer, PeerEvents } from "../peers/peer.ts";
import { type GoblinError, messageOf } from "../protocol/errors.ts";
import type { ServerState } from "../protocol/server-states.ts";
import { backoffMs } from "../timing/backoff.ts";
import { Renewals } from "../timing/renewals.ts";
import { withTimeout } from "../timing/with-timeout.ts";

export interface ConnectionOptions {
  /** Leaves nothing behind when the signal aborts. */
  readonly connect: (closed: PeerEvents["closed"], signal: AbortSignal) => Promise<Peer>;
  /**
   * A connection stands. Resolves when its lists have been fetched, with what is wrong if not all
   * could be.
   */
  readonly connected: (peer: Peer) => Promise<string | undefined>;
  /** The state or its reason is another. */
  readonly changed: () => void;
}

const WAIT_FOR_CONNECT_MS = 10_000;
const STABLE_MS = 60_000;
const PROBE_EVERY_MS = 30_000;
const PROBE_TIMEOUT_MS = 10_000;

export class SharedConnection {
  readonly #options: ConnectionOptions;
  readonly #renewals = new Renewals();
  #peer: Peer | undefined;
  #state: ServerState = "disabled";
  #reason: string | undefined;
  #since = Date.now();
  #attempt = 0;
  #restarts = 0;
  #nextAttemptAt: number | undefined;
  #readySince = 0;
  #wasReady = false;
  #listProblem: string | undefined;
  #callProblem: string | undefined;
  #abort: AbortController | undefined;
  #lastTraffic = 0;
  #connecting: Promise<void> | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #probeTimer: NodeJS.Timeout | undefined;
  /** Counts starts, stops and losses, so that what began before one is ignored after it. */
  #epoch = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get peer(): Peer | undefined {
    return this.#peer;
  }

  get state(): ServerState {
    return this.#state;
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  /** When the state began, in milliseconds since the epoch. */
  get since(): number {
    return this.#since;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** How long until the next attempt, while there is no connection. */
  get retryAfterMs(): number | undefined {
    return this.#nextAttemptAt === undefined ? undefined : Math.max(0, this.#nextAttemptAt - Date.now());
  }

  get isConnecting(): boolean {
    return this.#connecting !== undefined;
  }

  /** Resolves when the first attempt has succeeded or failed. */
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

  async stop(reason: string): Promise<void> {
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
    await Promise.all([peer?.close(), this.#connecting]);
  }

  /** The connection, if it stands or one that is being made right now stands in time. */
  async available(): Promise<Peer | undefined> {
    if (!this.#peer && this.#connecting) await withTimeout(this.#connecting, WAIT_FOR_CONNECT_MS, undefined);
    return this.#peer;
  }

  /** The server was heard from. */
  heard(): void {
    this.#lastTraffic = Date.now();
  }

  /** What is wrong with the lists of the connected server; undefined: nothing any more. */
  setListProblem(problem: string | undefined): void {
    this.#listProblem = problem;
    this.#judge();
  }

  /** What is wrong with calls to the connected server; undefined: nothing any more. */
  setCallProblem(problem: string | undefined): void {
    this.#callProblem = problem;
    this.#judge();
  }

  #judge(): void {
    if (this.#state !== "ready" && this.#state !== "degraded") return;
    const problem = this.#callProblem ?? this.#listProblem;
    this.#set(problem === undefined ? "ready" : "degraded", problem);
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
    const { connect, connected } = this.#options;
    try {
      const closed = (error: GoblinError, renew = false): void => this.#lost(epoch, error.message, renew);
      const peer = await connect(closed, signal);
      if (epoch !== this.#epoch) return void (await peer.close());
      this.#peer = peer;
      this.#callProblem = undefined;
      this.#lastTraffic = this.#readySince = Date.now();
      const problem = await connected(peer);
      if (epoch !== this.#epoch || this.#peer !== peer) return;
      this.#wasReady = true;
      this.#listProblem = problem;
      if (this.#state === "connecting") this.#set(problem ? "degraded" : "ready", problem);
    } catch (error) {
      this.#lost(epoch, messageOf(error));
    }
  }

  /**
   * `renew`: the server is well and only wants a new connection, which is made at once, though not
   * again and again.
   */
  #lost(epoch: number, reason: string, renew = false): void {
    if (epoch !== this.#epoch) return;
    this.#epoch++;
    this.#peer = undefined;
    if (this.#readySince > 0) this.#restarts++;
    const wasReady = this.#wasReady;
    this.#wasReady = false;
    if (renew && wasReady && this.#renewals.pass()) {
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
    this.#options.changed();
  }
}

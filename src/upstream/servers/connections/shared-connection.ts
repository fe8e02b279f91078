/**
 * The supervised connection to one server that all clients share. It is watched, and restored with
 * backoff as often as necessary.
 *
 * It has one visible state (`protocol/server-states.ts`) with its reason. `stop` ends every timer
 * and attempt. Results of work that began before a start or a stop are ignored.
 */

import { backoffMs } from "../../../lib/timing/backoff.ts";
import { Renewals } from "../../../lib/timing/renewals.ts";
import { withTimeout } from "../../../lib/timing/with-timeout.ts";
import type { Peer, PeerEvents } from "../../../mcp/peers/peer.ts";
import { GoblinError, messageOf } from "../../../mcp/protocol/errors.ts";
import { isStarting, type ServerState } from "../../../mcp/protocol/server-states.ts";

export interface ConnectionOptions {
  /** Must release everything when the signal aborts. */
  readonly connect: (closed: PeerEvents["closed"], signal: AbortSignal) => Promise<Peer>;
  /**
   * A connection is established. Resolves when the lists have been fetched, with the problem if
   * some could not be.
   */
  readonly connected: (peer: Peer) => Promise<string | undefined>;
  /** The state or its reason changed. */
  readonly changed: () => void;
  /** Why it must never be opened. */
  readonly invalid?: string | undefined;
  /** Whether a start may take long because something is installed first. */
  readonly installs: boolean;
}

/** An attempt to connect that is in progress. */
export interface Start {
  /** What is being done, in words. */
  readonly what: string;
  /** When the attempt is given up, in milliseconds from now, if it is known. */
  readonly limitMs?: number;
}

const WAIT_FOR_CONNECT_MS = 10_000;
/** When to ask again while an attempt is in progress. */
const ASK_AGAIN_MS = 1000;
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
  #start: { readonly what: string; readonly until: number | undefined } | undefined;
  /** What the server said in place of a handshake. */
  #hint: string | undefined;
  #listProblem: string | undefined;
  #callProblem: string | undefined;
  #loginProblem: string | undefined;
  #abort: AbortController | undefined;
  #lastTraffic = 0;
  #connecting: Promise<void> | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #probeTimer: NodeJS.Timeout | undefined;
  /** Counts starts, stops and losses. Results from an earlier epoch are ignored. */
  #epoch = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    if (options.invalid !== undefined) {
      this.#state = "invalid";
      this.#reason = options.invalid;
    }
  }

  get peer(): Peer | undefined {
    return this.#peer;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Why it is not ready. During a start also what is being done, and the time that is left. */
  get reason(): string | undefined {
    if (!this.isStarting || !this.#start) return this.#reason;
    const { what, until } = this.#start;
    const left = until === undefined ? "" : ` (gives up in ${Math.max(0, Math.ceil((until - Date.now()) / 1000))} s)`;
    const known = this.#hint ?? this.#reason;
    return known === undefined ? what + left : `${known}; ${what}${left}`;
  }

  get isStarting(): boolean {
    return isStarting(this.#state);
  }

  /** When the state began, in milliseconds since the epoch. */
  get since(): number {
    return this.#since;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** The time until the next attempt, or until it is worth asking again, without a connection. */
  get retryAfterMs(): number | undefined {
    if (this.isStarting) return ASK_AGAIN_MS;
    return this.#nextAttemptAt === undefined ? undefined : Math.max(0, this.#nextAttemptAt - Date.now());
  }

  get isConnecting(): boolean {
    return this.#connecting !== undefined;
  }

  /** Resolves when the first attempt has succeeded or failed. */
  async start(): Promise<void> {
    if (this.#options.invalid !== undefined) return;
    this.#epoch++;
    this.#attempt = 0;
    this.#probeTimer ??= setInterval(() => void this.#probe(), PROBE_EVERY_MS).unref();
    return this.#connect();
  }

  async restart(): Promise<void> {
    if (this.#options.invalid !== undefined) return;
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
    if (this.#options.invalid === undefined) this.#set("disabled", reason);
    await Promise.all([peer?.close(), this.#connecting]);
  }

  /** Connects at once, if a login was all that was missing. */
  loggedIn(): void {
    if (this.#state === "needs-login") void this.#connect();
  }

  /** Returns the connection. Waits for an attempt in progress, up to a timeout. */
  async available(): Promise<Peer | undefined> {
    if (!this.#peer && this.#connecting) await withTimeout(this.#connecting, WAIT_FOR_CONNECT_MS, undefined);
    return this.#peer;
  }

  /** Tells what an attempt is doing, for the reason. */
  starting({ what, limitMs }: Start): void {
    if (!this.isStarting) return;
    this.#start = { what, until: limitMs === undefined ? undefined : Date.now() + limitMs };
    this.#options.changed();
  }

  /** Tells what the server said in place of a handshake. */
  setHint(hint: string): void {
    if (!this.isStarting) return;
    this.#hint = hint;
    this.#options.changed();
  }

  /** Records traffic from the server, which postpones the next probe. */
  heard(): void {
    this.#lastTraffic = Date.now();
  }

  /** Sets the problem with the server's lists; undefined clears it. */
  setListProblem(problem: string | undefined): void {
    this.#listProblem = problem;
    this.#judge();
  }

  /** Sets the problem with calls to the server; undefined clears it. */
  setCallProblem(problem: string | undefined): void {
    this.#callProblem = problem;
    this.#judge();
  }

  /** Sets what the server wants beyond the login that it has; undefined clears it. */
  setLoginProblem(problem: string | undefined): void {
    this.#loginProblem = problem;
    this.#judge();
  }

  #judge(): void {
    if (this.#state !== "ready" && this.#state !== "degraded") return;
    const problem = this.#callProblem ?? this.#loginProblem ?? this.#listProblem;
    this.#set(problem === undefined ? "ready" : "degraded", problem);
  }

  #connect(): Promise<void> {
    const epoch = this.#epoch;
    this.#nextAttemptAt = undefined;
    this.#start = undefined;
    this.#hint = undefined;
    // Without its secrets there is nothing to start, so a new look at them is no start yet.
    if (this.#state !== "invalid") this.#set(this.#options.installs ? "installing" : "connecting", this.#reason);
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
      const closed = (error: GoblinError, renew = false): void => this.#lost(epoch, error, renew);
      const peer = await connect(closed, signal);
      if (epoch !== this.#epoch) return void (await peer.close());
      this.#peer = peer;
      this.#callProblem = undefined;
      this.#lastTraffic = this.#readySince = Date.now();
      this.#start = undefined;
      this.#set("connecting");
      const problem = await connected(peer);
      if (epoch !== this.#epoch || this.#peer !== peer) return;
      this.#wasReady = true;
      this.#listProblem = problem;
      if (this.#state === "connecting") this.#set(problem ? "degraded" : "ready", problem);
    } catch (error) {
      this.#lost(epoch, error);
    }
  }

  /**
   * `renew`: the server is healthy and only requires a new connection. It is made at once, but the
   * rate is limited.
   */
  #lost(epoch: number, error: unknown, renew = false): void {
    if (epoch !== this.#epoch) return;
    const reason = reasonOf(error);
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
    if (error instanceof GoblinError && error.reason === "login") {
      this.#readySince = 0;
      return this.#set("needs-login", reason);
    }
    // Reset the backoff for a server that was healthy for a while. It keeps growing for one that
    // crashes repeatedly.
    if (this.#readySince > 0 && Date.now() - this.#readySince > STABLE_MS) this.#attempt = 0;
    this.#readySince = 0;
    const delay = backoffMs(this.#attempt++);
    this.#nextAttemptAt = Date.now() + delay;
    const isUnset = error instanceof GoblinError && error.reason === "unset";
    this.#set(isUnset ? "invalid" : "down", reason);
    this.#retryTimer = setTimeout(() => void this.#connect(), delay);
    this.#retryTimer.unref();
  }

  /** Probes a silent connection and replaces it if the server does not respond. */
  async #probe(): Promise<void> {
    const peer = this.#peer;
    if (!peer?.probe || Date.now() - this.#lastTraffic < PROBE_EVERY_MS || peer.inFlight > 0) return;
    const epoch = this.#epoch;
    const alive = await withTimeout(peer.probe(), PROBE_TIMEOUT_MS, false);
    if (alive || epoch !== this.#epoch) return;
    this.#lost(epoch, new Error("it does not answer a ping"));
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

/** Why there is no connection; the subject is always the server. */
function reasonOf(error: unknown): string {
  return messageOf(error).replace(/^The server (?=\S)/, "");
}

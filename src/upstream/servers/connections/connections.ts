/**
 * The connections of one server, and the choice among them: the shared one, the one that clients
 * with a session share, or the client's own.
 *
 * A client that must not share a connection never uses another client's. A request waits for its
 * connection, and is answered even if there is none.
 */

import { createHash } from "node:crypto";
import { canonical } from "../../../lib/json/canonical.ts";
import type { Peer, PeerEvents } from "../../../mcp/peers/peer.ts";
import type { Client } from "../../../mcp/protocol/call.ts";
import { GoblinError, messageOf } from "../../../mcp/protocol/errors.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import { type Answer, failure, rawText } from "../../../mcp/protocol/json-rpc.ts";
import { knownClient } from "../../../mcp/protocol/known-client.ts";
import type { BackendOptions } from "../backend.ts";
import { SESSIONS } from "../owner.ts";
import { CallHold } from "./call-hold.ts";
import { ExclusivePeerPool } from "./exclusive-peer-pool.ts";
import { ownConnections } from "./own-connections.ts";
import { OwnStart } from "./own-start.ts";
import { Ownership } from "./ownership.ts";
import { loginRequired, unavailable } from "./refusals.ts";
import { SessionPeers } from "./session-peers.ts";
import { SessionsConnection } from "./sessions-connection.ts";
import { SharedConnection } from "./shared-connection.ts";

/** When to ask again after a client's own connection broke. */
const OWN_AGAIN_MS = 500;

const ROOTS = "roots/list";
/** The requests that a client without a session can be asked in. */
const ASKED_IN = new Set(["tools/call", "prompts/get", "resources/read"]);

/** The roots of a client without a session. */
interface KnownRoots {
  readonly answer: Answer;
  /** Names the requests of this client with these roots. */
  readonly warmFor: string;
}

export interface ConnectionsOptions extends Omit<BackendOptions, "limits"> {
  /** Returns how many connections may belong to single clients. */
  readonly limit: () => number;
  /** A shared connection was made. */
  readonly connected: () => void;
  /** The state of the shared connection changed. */
  readonly changed: () => void;
}

export class Connections {
  readonly shared: SharedConnection;
  readonly ownership: Ownership;
  readonly #options: ConnectionsOptions;
  /** The shared connection of clients with a session, if the server wants them on another one. */
  readonly #sessions: SessionsConnection;
  readonly #owned: SessionPeers;
  readonly #lent: ExclusivePeerPool;
  readonly #held = new CallHold();
  /** What clients without a session said for the request that is being sent. */
  readonly #roots = new WeakMap<Client, KnownRoots>();

  constructor(options: ConnectionsOptions) {
    const { hooks } = options;
    this.#options = options;
    this.ownership = new Ownership(options.share);
    this.shared = new SharedConnection({
      connect: (closed, signal) => options.connect({ ...hooks.events(undefined), closed }, { signal }),
      connected: (peer) => {
        options.connected();
        this.#sessions.renew(peer);
        return hooks.connected(peer);
      },
      changed: options.changed,
      installs: options.installs,
      invalid: options.invalid,
    });
    this.#sessions = new SessionsConnection({
      connect: (closed, signal) =>
        options.connect({ ...hooks.events(SESSIONS), closed }, { signal, forSessions: true }),
      connected: (peer, again) => hooks.sessionsConnected(peer, again),
      problem: (message) => hooks.events(undefined).problem(message),
    });
    const connect = ownConnections({
      serverId: options.id,
      limit: options.limit,
      onLimit: options.onLimit,
      connect: (owner, closed, signal) => this.#connectOwn(owner, closed, signal),
      makeRoom: (account) => this.#lent.makeRoom(account),
    });
    this.#lent = new ExclusivePeerPool({
      connect,
      warmFor: (client) => this.#roots.get(client)?.warmFor,
    });
    this.#owned = new SessionPeers({
      connect,
      wants: (scope) => hooks.wantsOwned(scope),
      restored: (scope) => hooks.ownedRestored(scope),
    });
  }

  async restart(): Promise<void> {
    await Promise.all([this.#sessions.stop(), this.#owned.closeAll(), this.#lent.closeAll()]);
    await this.shared.restart();
  }

  async stop(reason: string): Promise<void> {
    await Promise.all([this.shared.stop(reason), this.#sessions.stop(), this.#owned.closeAll(), this.#lent.closeAll()]);
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
    if (!this.shared.peer) return undefined;
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
    this.#held.until(answer, () => this.shared.peer);
  }

  /** Sends a client's notification on the connection that its requests take. */
  notify(client: Client, method: string, params: string): void {
    if (this.#owned.has(client.scope)) this.#owned.notify(client.scope, method, params);
    else this.peerFor(client)?.notify(method, params);
  }

  /** Sends a notification of the only client, on the shared connections. */
  notifyShared(method: string): void {
    this.shared.peer?.notify(method);
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

  /**
   * Sends a client's request, at once if there is a connection for it; `params` is raw JSON with
   * the server's own identifiers.
   */
  send(method: string, params: string, flight: Flight): Promise<Answer> {
    const peer = this.peerFor(flight.call.client);
    if (!peer) return this.#sendLater(method, params, flight);
    this.ownership.shares(flight.call.client);
    return peer.request(method, params, flight);
  }

  /** Returns the connection for a client's requests, unless it must be made first. */
  peerFor(client: Client): Peer | undefined {
    if (this.#held.over || (this.ownership.isPossible && this.ownership.includes(client))) return undefined;
    const { peer } = this.shared;
    if (!peer?.sessionsApart || !client.hasSession) return peer;
    return this.#sessions.isDecided ? (this.#sessions.peer ?? peer) : undefined;
  }

  /** Returns whether the client shares the connection that only clients with a session use. */
  #isApart({ hasSession }: Client): boolean {
    return hasSession && this.shared.peer?.sessionsApart === true;
  }

  #isOwn(client: Client): boolean {
    return this.ownership.isPossible && this.ownership.includes(client);
  }

  async #connectOwn(owner: Client, closed: PeerEvents["closed"], signal: AbortSignal): Promise<Peer> {
    const { hooks, connect } = this.#options;
    const events = { ...hooks.events(owner), closed };
    const start = new OwnStart(this.ownership.expected(owner));
    // The lists that a client without a session sees are those of the shared connection.
    const asShared = !owner.hasSession && this.ownership.mayShare;
    const known = this.#roots.get(owner);
    const ask: PeerEvents["ask"] = known
      ? (method, params, asked) =>
          method === ROOTS && typeof asked.origin !== "object"
            ? Promise.resolve(known.answer)
            : events.ask(method, params, asked)
      : events.ask;
    const peer = await connect({ ...events, ask: start.follow(ask) }, { owner, asShared, signal });
    const list = (connected: Peer): Promise<void> =>
      owner.hasSession ? hooks.ownConnected(owner, connected) : Promise.resolve();
    if (!signal.aborted) await start.over(peer, list, signal);
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
    const shared = await this.shared.available();
    if (!shared) {
      const { state, reason } = this.shared;
      return state === "needs-login" ? this.loginRequired(reason) : this.unavailable();
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
      const isExpected = !this.ownership.mayShare || this.#lent.expects(call, params);
      if (!isExpected && !(await this.#learnRoots(method, flight))) return shared.request(method, params, flight);
      return await this.#lent.use(call, params, (peer) => peer.request(method, params, flight));
    } catch (error) {
      const isFull = error instanceof GoblinError && error.code === "LIMIT_EXCEEDED";
      if (isFull && this.ownership.mayShare) return shared.request(method, params, flight);
      if (isFull) return { ...failure(error), unsent: true };
      if (error instanceof GoblinError && error.reason === "login") return this.loginRequired(error.message);
      return this.unavailable(messageOf(error));
    }
  }

  /**
   * Asks a client without a session for its roots, with each request: two windows of one program
   * look the same, and have different ones. Returns whether it told them.
   */
  async #learnRoots(method: string, { call, deadline }: Flight): Promise<boolean> {
    if (!ASKED_IN.has(method)) return false;
    deadline?.asks();
    const answer = await call.client.ask(ROOTS, "{}", { call });
    deadline?.answered(true);
    if (!answer.ok || call.cancelled) return false;
    const hash = createHash("sha256")
      .update(canonical(rawText(answer.raw)))
      .digest("base64url");
    this.#roots.set(call.client, { answer, warmFor: `${knownClient(call.client)} ${hash}` });
    return true;
  }

  /** A client's own connection is made again with its next request. */
  get retryAfterMs(): number | undefined {
    const { retryAfterMs, state } = this.shared;
    return retryAfterMs ?? (this.ownership.isPossible && state !== "disabled" ? OWN_AGAIN_MS : undefined);
  }

  loginRequired(message?: string): Answer {
    return loginRequired(this.#options.id, message);
  }

  unavailable(reason = this.shared.reason ?? this.shared.state, retryAfterMs = this.retryAfterMs): Answer {
    return unavailable(this.#options.id, reason, retryAfterMs);
  }
}

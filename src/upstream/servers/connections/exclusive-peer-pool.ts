/**
 * Connections to a server that is not shared, for clients without a session. Each is made with the
 * capabilities of a request. Each serves one request at a time, because the questions of two
 * requests could not be told apart.
 *
 * A connection that one party has used is never lent to another party, because the server may have
 * kept state. Several clients may share a token, so each request with only a token is its own
 * party: its connection closes after the answer. There are two exceptions. If the server wants the
 * request repeated or began a task, the connection waits for a request with the same handle and
 * token. If only one client can write to a channel, its requests are one party, and the connection
 * is reused.
 *
 * With `share: "auto"`, a connection is here only because the server wants the client's roots at
 * its start. It then serves all requests of a client with the same roots.
 */

import { memberText } from "../../../lib/json/json-text.ts";
import type { Peer } from "../../../mcp/peers/peer.ts";
import type { Call, Client } from "../../../mcp/protocol/call.ts";
import { type Answer, type Raw, rawText } from "../../../mcp/protocol/json-rpc.ts";
import type { ConnectOwn, OwnConnection } from "./own-connections.ts";

interface Lent {
  /** The account of the client that it was made for. */
  readonly account: string;
  readonly connection: Promise<OwnConnection>;
  readonly abort: AbortController;
  /** The number of current requests; more than one only for the same task or with `warmFor`. */
  users: number;
  broken: boolean;
  /** Only a request with this key may reuse the connection. */
  keptFor?: string | undefined;
  /** Names the requests that may use it at any time. */
  readonly warmFor: string | undefined;
  timer?: NodeJS.Timeout;
}

const IDLE_MS = 60_000;
const MAX_IDLE = 8;
/** The time limit for a client to answer a server's questions. */
const HANDLE_MS = 10 * 60_000;
/** How long a connection waits for the next request of the client that it is for. */
const WARM_MS = 10 * 60_000;

export interface PoolOptions {
  readonly connect: ConnectOwn;
  /** Names the requests that share a connection. Undefined: each has its own. */
  readonly warmFor: (client: Client) => string | undefined;
}

export class ExclusivePeerPool {
  readonly #options: PoolOptions;
  readonly #busy = new Set<Lent>();
  /** Longest idle first. */
  readonly #idle = new Set<Lent>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Sends a request on a connection that no other request uses meanwhile. */
  async use(call: Call, params: string, send: (peer: Peer) => Promise<Answer>): Promise<Answer> {
    const { client } = call;
    const task = textIn(params, "taskId");
    const lent = this.#take(client, handleOf(params));
    let connected = false;
    call.onCancel(() => {
      if (!connected && lent.users === 1) lent.abort.abort();
    });
    // A known task keeps its connection, even if this request fails.
    let handle = task !== undefined && lent.keptFor === handleKey(client, task) ? task : undefined;
    try {
      const { peer } = await lent.connection;
      connected = true;
      const answer = await send(peer);
      if (answer.ok) handle = handleIn(answer.raw) ?? task;
      return answer;
    } finally {
      this.#giveBack(lent, client, handle);
    }
  }

  /** Whether a connection waits for this very request. */
  expects({ client }: Call, params: string): boolean {
    const handle = handleOf(params);
    return handle !== undefined && find([...this.#idle, ...this.#busy], handleKey(client, handle)) !== undefined;
  }

  /**
   * Closes the connection that has been idle the longest, of this account or of any. Returns
   * undefined if none is idle.
   */
  makeRoom(account?: string): Promise<void> | undefined {
    for (const oldest of this.#idle) {
      if (account === undefined || oldest.account === account) return this.#close(oldest);
    }
    return undefined;
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#busy, ...this.#idle].map((lent) => this.#close(lent)));
  }

  #take(client: Client, handle: string | undefined): Lent {
    const warmFor = this.#options.warmFor(client);
    const known =
      (handle && find([...this.#idle, ...this.#busy], handleKey(client, handle))) ||
      (warmFor !== undefined && findWarm([...this.#idle, ...this.#busy], warmFor)) ||
      (comesAgain(client) && find(this.#idle, client.scope));
    if (known) {
      clearTimeout(known.timer);
      known.users++;
      this.#idle.delete(known);
      this.#busy.add(known);
      return known;
    }
    const abort = new AbortController();
    const closed = (): void => {
      made.broken = true;
      this.#idle.delete(made);
    };
    const connection = this.#options.connect(client, closed, abort.signal);
    const { account } = client;
    const made: Lent = { account, connection, abort, users: 1, broken: false, warmFor };
    connection.catch(closed);
    this.#busy.add(made);
    return made;
  }

  #giveBack(lent: Lent, client: Client, handle: string | undefined): void {
    if (--lent.users > 0) return;
    this.#busy.delete(lent);
    if (lent.broken) return;
    if (handle !== undefined) this.#keep(lent, handleKey(client, handle), HANDLE_MS);
    else if (lent.warmFor !== undefined) this.#keep(lent, undefined, WARM_MS);
    else if (comesAgain(client) && this.#idle.size < MAX_IDLE) this.#keep(lent, client.scope, IDLE_MS);
    else void this.#close(lent);
  }

  #keep(lent: Lent, keptFor: string | undefined, ms: number): void {
    lent.keptFor = keptFor;
    this.#idle.add(lent);
    lent.timer = setTimeout(() => void this.#close(lent), ms).unref();
  }

  async #close(lent: Lent): Promise<void> {
    clearTimeout(lent.timer);
    lent.broken = true;
    this.#idle.delete(lent);
    lent.abort.abort();
    await lent.connection.then((connection) => connection.close()).catch(() => {});
  }
}

function find(among: Iterable<Lent>, keptFor: string): Lent | undefined {
  for (const lent of among) if (lent.keptFor === keptFor && !lent.broken) return lent;
  return undefined;
}

function findWarm(among: Iterable<Lent>, warmFor: string): Lent | undefined {
  for (const lent of among) if (lent.warmFor === warmFor && !lent.broken) return lent;
  return undefined;
}

/** Returns whether the party outlives the request. */
function comesAgain({ party, key }: Client): boolean {
  return party !== key;
}

function handleKey({ principal }: Client, handle: string): string {
  return `handle ${principal} ${handle}`;
}

/** Returns the handle in a request that is repeated, or about a task. */
function handleOf(params: string): string | undefined {
  return textIn(params, "requestState") ?? textIn(params, "taskId");
}

/** Returns the handle by which the server recognizes a repeated request or a task. */
function handleIn(raw: Raw): string | undefined {
  if (!raw.includes('"requestState"') && !raw.includes('"taskId"')) return undefined;
  const text = rawText(raw);
  return textIn(text, "requestState") ?? textIn(text, "taskId") ?? textIn(memberText(text, "task") ?? "{}", "taskId");
}

function textIn(json: string, key: string): string | undefined {
  const raw = memberText(json, key);
  return raw?.startsWith('"') ? (JSON.parse(raw) as string) : undefined;
}

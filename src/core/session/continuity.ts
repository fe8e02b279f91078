/**
 * Sessions that survive a restart: ids that another process can open, and the state that it needs.
 *
 * A session is resumed only if its id was sealed with this key for this endpoint and another
 * process issued it: an earlier one, or a replica. It must also belong to the principal that
 * presents it, be young enough, and not have ended. Any other id is unknown, and its client starts
 * a new session. Without a state folder, the key and the sessions live only as long as the process.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { LiveConfig } from "../../config/live-config.ts";
import { stateFolder } from "../../config/state-folder.ts";
import { readStateKey } from "../../config/state-key.ts";
import { BoundedSet } from "../../lib/structures/bounded-map.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import {
  EndedSessions,
  type JournaledSubscription,
  MAX_ENDED,
  openJournal,
  type Remembered,
  type SessionJournal,
} from "./journal.ts";
import { createSealer, type Sealer, type SessionClaims } from "./seal.ts";
import type { SessionStore } from "./store.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** The maximum age of a resumed session, however often it is used. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;
const KEY_BYTES = 32;
/** A request id that can end a session id. */
const ROUTING_KEY = /^[\w-]{8,64}$/;

export interface ContinuityOptions {
  readonly sealer: Sealer;
  readonly journal: SessionJournal | undefined;
  /**
   * `limits.sessionIdleMs` limits the idle time of a session, including the time without a process.
   */
  readonly config: Pick<LiveConfig, "current">;
  readonly sessions: Pick<SessionStore, "get">;
  readonly subscriptions: Pick<Subscriptions, "on">;
  /** Other processes with the same key run at the same time. */
  readonly isShared?: boolean | undefined;
  readonly replica?: Replica | undefined;
}

/** This process among others that hand each other what they own. */
export interface Replica {
  readonly self: { readonly id: string };
  /** Begins the ids that it issues. */
  readonly tag: string;
  /** Where all replicas find the state of sessions. */
  readonly journal: SessionJournal | undefined;
  /** Marks an id as one of this replica. */
  own(id: string): string;
  /** Returns an id without its mark, and the replica that the mark names. */
  split(id: string): { readonly id: string; readonly owner: string } | undefined;
}

export class Continuity {
  readonly journal: SessionJournal | undefined;
  readonly #sealer: Sealer;
  readonly #config: Pick<LiveConfig, "current">;
  readonly #isShared: boolean;
  readonly #replica: Replica | undefined;
  readonly #process: string;
  readonly #started = Date.now();
  /** Sessions of other processes that go on in this one. */
  readonly #resumed = new Set<string>();
  /** Sessions of this process that others took over. */
  readonly #surrendered = new BoundedSet<string>(MAX_ENDED);
  /** Resumed sessions that have ended. Used only without a journal. */
  readonly #ended = new EndedSessions();
  /** The sessions whose ids were sealed or opened here, so a later process can resume them. */
  readonly #kept = new Set<string>();
  readonly #forgetting: NodeJS.Timeout | undefined;

  constructor({ sealer, journal, config, sessions, subscriptions, isShared, replica }: ContinuityOptions) {
    this.#sealer = sealer;
    this.#isShared = isShared === true;
    this.#replica = replica;
    this.#process = replica?.self.id ?? randomUUID();
    this.journal = journal;
    this.#config = config;
    if (!journal) return;
    subscriptions.on("added", (record) => this.#subscribed(record.clientKey, record));
    subscriptions.on("removed", ({ clientKey, serverId, uri }) => this.unsubscribed(clientKey, serverId, uri));
    // Sessions that have not been resumed by then have expired.
    const forget = (): void => journal.forget((key) => sessions.get(key) !== undefined);
    this.#forgetting = setTimeout(forget, this.#idleMs).unref();
  }

  get #idleMs(): number {
    return this.#config.current.limits.sessionIdleMs;
  }

  /**
   * Returns the id of a new session. `requestId`: the one that a load balancer gave the request and
   * hashed. It ends the id, so that the load balancer can hash it again and reach this process.
   */
  seal(claims: Omit<SessionClaims, "replica" | "routingKey">, requestId?: string | undefined): string {
    this.#kept.add(claims.key);
    const isKey = this.#replica !== undefined && ROUTING_KEY.test(requestId ?? "");
    const routingKey = isKey ? requestId : undefined;
    const sealed = this.#sealer.seal({ ...claims, replica: this.#process, routingKey });
    return this.own(routingKey === undefined ? sealed : `${sealed}.${routingKey}`);
  }

  /** Marks an id of something that only this process has. */
  own(id: string): string {
    return this.#replica ? this.#replica.own(id) : id;
  }

  /** Returns a key that is good for this purpose only. */
  keyFor(purpose: string): Buffer {
    return this.#sealer.keyFor(purpose);
  }

  /** Returns the claims of a session that another process held, if it may be resumed. */
  open(id: string, { principal, endpoint }: Pick<SessionClaims, "principal" | "endpoint">): SessionClaims | undefined {
    const claims = this.#claims(id);
    if (claims?.principal !== principal || claims.endpoint !== endpoint) return undefined;
    if (this.#isOwn(claims)) return undefined;
    if (this.#ended.has(claims.key, claims.issued) || this.journal?.hasEnded(claims.key, claims.issued))
      return undefined;
    const now = Date.now();
    // Only the journal knows when the earlier process ended, and it knows of no replica. Without
    // it, only the age counts.
    const lastSeen = this.journal && !this.#isShared ? Math.max(claims.issued, this.journal.lastAlive) : now;
    if (now - lastSeen > this.#idleMs || now - claims.issued > MAX_AGE_MS) return undefined;
    this.#kept.add(claims.key);
    this.#resumed.add(claims.key);
    this.#surrendered.delete(claims.key);
    return claims;
  }

  /** Looks up the state of a session in another process, before it is opened here. */
  async prepare(id: string): Promise<void> {
    const key = this.journal?.load && this.#claims(id)?.key;
    if (key !== undefined) await this.journal?.load?.(key);
  }

  /** Leaves a session to another process: its end here is not its end. */
  surrender(key: string): void {
    this.#kept.delete(key);
    this.#resumed.delete(key);
    this.#surrendered.add(key);
    this.journal?.released?.(key);
  }

  #claims(id: string): SessionClaims | undefined {
    const marked = this.#replica?.split(id);
    if (!marked) return this.#sealer.open(id);
    const [sealed = "", routingKey, ...rest] = marked.id.split(".");
    const claims = this.#sealer.open(sealed);
    // A mark of one session must not send another one to its owner, and no session has two ids.
    if (claims?.replica !== marked.owner || claims.routingKey !== routingKey || rest.length > 0) return undefined;
    return claims;
  }

  #isOwn({ key, replica, issued }: SessionClaims): boolean {
    if (this.#surrendered.has(key)) return false;
    return replica === undefined ? issued >= this.#started : replica === this.#process;
  }

  remembered(key: string): Remembered | undefined {
    return this.journal?.remembered(key);
  }

  #subscribed(key: string, subscription: JournaledSubscription): void {
    if (this.#kept.has(key)) this.journal?.subscribed(key, subscription);
  }

  unsubscribed(key: string, serverId: string, uri: string): void {
    if (this.#kept.has(key)) this.journal?.unsubscribed(key, serverId, uri);
  }

  logLevel(key: string, level: string): void {
    if (this.#kept.has(key)) this.journal?.level(key, level);
  }

  ended(key: string): void {
    if (!this.#kept.delete(key)) return;
    if (this.#resumed.delete(key) && !this.journal) this.#ended.add(key, Date.now());
    this.journal?.ended(key);
  }

  /** Resolves when all events so far would survive a crash. */
  async written(): Promise<void> {
    await this.journal?.written();
  }

  /** Stops writing: the next process must be able to resume the sessions that end from now on. */
  async close(): Promise<void> {
    clearTimeout(this.#forgetting);
    await this.journal?.close();
  }
}

export interface StateOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * The address that the sessions belong to, as `host:port`. Undefined: it changes with each
   * restart.
   */
  readonly endpoint: string | undefined;
  readonly warn: (message: string) => void;
  /** What replicas share. Default: $GOBLIN_SECRET. */
  readonly secret?: string | undefined;
}

export interface SessionState {
  readonly sealer: Sealer;
  readonly journal: SessionJournal | undefined;
  /** Other processes with the same key run at the same time. */
  readonly isShared?: boolean;
}

/**
 * Opens the key and the journal of this endpoint. Falls back to a temporary key without a journal.
 */
export async function openState(options: StateOptions): Promise<SessionState> {
  const { env, endpoint, warn, secret = env["GOBLIN_SECRET"] } = options;
  const isShared = secret !== undefined && secret !== "";
  const without = { sealer: secret ? createSealer(secret, "") : ephemeralSealer(), journal: undefined, isShared };
  if (endpoint === undefined) return without;
  const folder = stateFolder(env);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const sealer = secret ? createSealer(secret, "") : createSealer(await readStateKey(folder), endpoint);
    const journal = await openJournal({
      file: join(folder, `sessions-${endpoint.replace(/[^A-Za-z0-9.]+/g, "-")}.jsonl`),
      failed: (message) => warn(`Subscriptions will not survive a restart: ${message}`),
      keepEndedMs: MAX_AGE_MS,
    });
    return { sealer, journal, isShared };
  } catch (error) {
    warn(`Sessions will not survive a restart: the state folder cannot be used (${messageOf(error)})`);
    return without;
  }
}

/** Returns a sealer with a key that only this process knows. */
export function ephemeralSealer(): Sealer {
  return createSealer(randomBytes(KEY_BYTES), "");
}

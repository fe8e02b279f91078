/**
 * Sessions that survive a restart: ids that another process can open, and the state that it needs.
 *
 * A session is resumed only if its id was sealed with this key for this endpoint and an earlier
 * process issued it. It must also belong to the principal that presents it, be young enough, and
 * not have ended. Any other id is unknown, and its client starts a new session. Without a state
 * folder, the key and the sessions live only as long as the process.
 */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { LiveConfig } from "../config/live-config.ts";
import { stateFolder } from "../config/state-folder.ts";
import { readStateKey } from "../config/state-key.ts";
import { messageOf } from "../protocol/errors.ts";
import { type Journal, type JournaledSubscription, MAX_ENDED, openJournal, type Remembered } from "./journal.ts";
import { createSealer, type Sealer, type SessionClaims } from "./seal.ts";
import type { SessionStore } from "./store.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** The maximum age of a resumed session, however often it is used. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;
const KEY_BYTES = 32;

export interface ContinuityOptions {
  readonly sealer: Sealer;
  readonly journal: Journal | undefined;
  /**
   * `limits.sessionIdleMs` limits the idle time of a session, including the time without a process.
   */
  readonly config: Pick<LiveConfig, "current">;
  readonly sessions: Pick<SessionStore, "get">;
  readonly subscriptions: Pick<Subscriptions, "on">;
}

export class Continuity {
  readonly journal: Journal | undefined;
  readonly #sealer: Sealer;
  readonly #config: Pick<LiveConfig, "current">;
  readonly #started = Date.now();
  /** Sessions of earlier processes that ended in this one. Used only without a journal. */
  readonly #ended = new Set<string>();
  /** The sessions whose ids were sealed or opened here, so a later process can resume them. */
  readonly #kept = new Set<string>();
  readonly #forgetting: NodeJS.Timeout | undefined;

  constructor({ sealer, journal, config, sessions, subscriptions }: ContinuityOptions) {
    this.#sealer = sealer;
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

  seal(claims: SessionClaims): string {
    this.#kept.add(claims.key);
    return this.#sealer.seal(claims);
  }

  /** Returns the claims of a session that an earlier process held, if it may be resumed. */
  open(id: string, { principal, endpoint }: Pick<SessionClaims, "principal" | "endpoint">): SessionClaims | undefined {
    const claims = this.#sealer.open(id);
    if (claims?.principal !== principal || claims.endpoint !== endpoint) return undefined;
    if (claims.issued >= this.#started) return undefined;
    if (this.#ended.has(claims.key) || this.journal?.hasEnded(claims.key)) return undefined;
    const now = Date.now();
    // Only the journal knows when the earlier process ended. Without it, only the age counts.
    const lastSeen = this.journal ? Math.max(claims.issued, this.journal.lastAlive) : now;
    if (now - lastSeen > this.#idleMs || now - claims.issued > MAX_AGE_MS) return undefined;
    this.#kept.add(claims.key);
    return claims;
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

  ended(key: string, issued: number): void {
    this.#kept.delete(key);
    if (issued < this.#started && !this.journal) this.#remember(key);
    this.journal?.ended(key);
  }

  /** Resolves when all events so far would survive a crash. */
  async written(): Promise<void> {
    await this.journal?.written();
  }

  #remember(key: string): void {
    this.#ended.add(key);
    if (this.#ended.size <= MAX_ENDED) return;
    const [oldest] = this.#ended;
    this.#ended.delete(oldest!);
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
}

export interface SessionState {
  readonly sealer: Sealer;
  readonly journal: Journal | undefined;
}

/**
 * Opens the key and the journal of this endpoint. Falls back to a temporary key without a journal.
 */
export async function openState({ env, endpoint, warn }: StateOptions): Promise<SessionState> {
  const secret = env["GOBLIN_SECRET"];
  const without = { sealer: secret ? createSealer(secret, "") : ephemeralSealer(), journal: undefined };
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
    return { sealer, journal };
  } catch (error) {
    warn(`Sessions will not survive a restart: the state folder cannot be used (${messageOf(error)})`);
    return without;
  }
}

/** Returns a sealer with a key that only this process knows. */
export function ephemeralSealer(): Sealer {
  return createSealer(randomBytes(KEY_BYTES), "");
}

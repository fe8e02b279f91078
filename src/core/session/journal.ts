/**
 * The session state that must survive a restart: subscriptions, log levels, and which sessions have
 * ended.
 *
 * The file holds JSON lines, appended asynchronously in the order of the events. Only a request
 * that ends a session waits until its line is written. When most of the file is outdated, it is
 * rewritten atomically. It holds no credentials: it names sessions by their internal keys, which no
 * client can use. Losing the file loses subscriptions and nothing else. Only a bounded number of
 * ended sessions is remembered, the most recent ones; of the time before, only sessions that the
 * file knows to be open can go on.
 */
import { readFile } from "node:fs/promises";
import { BoundedMap } from "../../lib/structures/bounded-map.ts";
import { LineFile } from "../../lib/structures/line-file.ts";
import { writeFileAtomic } from "../../lib/structures/write-file-atomic.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";

export interface JournaledSubscription {
  readonly serverId: string;
  readonly uri: string;
  readonly form: string;
}

export interface Remembered {
  readonly subscriptions: readonly JournaledSubscription[];
  readonly logLevel: string | undefined;
}

/** Where the state of sessions is kept for the process that goes on with them. */
export interface SessionJournal {
  /** When an earlier process was last known to run; 0 if there was none. */
  readonly lastAlive: number;
  /** Looks a session up that another process had. Needed first where that takes time. */
  load?(key: string): Promise<void>;
  remembered(key: string): Remembered | undefined;
  /** `issued`: when the session began. */
  hasEnded(key: string, issued: number): boolean;
  subscribed(key: string, subscription: JournaledSubscription): void;
  unsubscribed(key: string, serverId: string, uri: string): void;
  level(key: string, level: string): void;
  ended(key: string): void;
  /** Leaves a session to another process. */
  released?(key: string): void;
  /** Resolves when all events so far were written, or failed to be. */
  written(): Promise<void>;
  /** Drops sessions that are not open. */
  forget(isOpen: (key: string) => boolean): void;
  /** Stops writing: the next process must resume the sessions that end from now on. */
  close(): Promise<void>;
}

export interface JournalOptions {
  readonly file: string;
  readonly failed: (message: string) => void;
  /** How long an ended session is remembered: as long as its id could be used. */
  readonly keepEndedMs: number;
}

interface Kept {
  readonly subscriptions: Map<string, JournaledSubscription>;
  logLevel: string | undefined;
}

type Line =
  | { readonly op: "sub"; readonly k: string; readonly s: string; readonly u: string; readonly f: string }
  | { readonly op: "unsub"; readonly k: string; readonly s: string; readonly u: string }
  | { readonly op: "level"; readonly k: string; readonly l: string }
  | { readonly op: "end"; readonly k: string; readonly t: number }
  /** Sessions that ended up to then are not remembered one by one. */
  | { readonly op: "floor"; readonly t: number }
  | { readonly op: "alive"; readonly t: number };

/** The most ended sessions that are remembered. */
export const MAX_ENDED = 10_000;
const COMPACT_FROM = 1000;

/**
 * The sessions that have ended.
 *
 * Invariant: an ended session is never taken for an open one. Beyond the bound, sessions that began
 * before the last forgotten end count as ended.
 */
export class EndedSessions {
  /** When the last of those ended that are not remembered any more. */
  floor = Number.NEGATIVE_INFINITY;
  readonly #times = new BoundedMap<string, number>(MAX_ENDED, (_key, at) => {
    this.floor = Math.max(this.floor, at);
  });

  add(key: string, at: number): void {
    this.#times.set(key, at);
  }

  has(key: string, issued: number): boolean {
    return this.#times.has(key) || issued <= this.floor;
  }

  isRemembered(key: string): boolean {
    return this.#times.has(key);
  }

  get size(): number {
    return this.#times.size;
  }

  /** Forgets sessions whose ids nobody can use any more. */
  forgetUntil(time: number): void {
    for (const [key, at] of this.#times) if (at < time) this.#times.delete(key);
  }

  [Symbol.iterator](): IterableIterator<[key: string, at: number]> {
    return this.#times.entries();
  }
}
const ALIVE_EVERY_MS = 60_000;

export async function openJournal(options: JournalOptions): Promise<Journal> {
  const text = await readFile(options.file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const journal = new Journal(options, text);
  await journal.compact();
  return journal;
}

export class Journal implements SessionJournal {
  readonly #options: JournalOptions;
  readonly #sessions = new Map<string, Kept>();
  readonly #ended = new EndedSessions();
  readonly #file: LineFile;
  readonly #timer: NodeJS.Timeout;
  /** When an earlier process was last known to run; 0 if there was none. */
  readonly lastAlive: number;
  #waiting: string[] = [];
  /** Callbacks that run once the waiting lines are written. */
  #waiters: (() => void)[] = [];
  #lines = 0;
  #work: Promise<void> | undefined;
  #isFailing = false;
  #closed = false;

  constructor(options: JournalOptions, text: string) {
    this.#options = options;
    this.#file = new LineFile(options.file);
    let lastAlive = 0;
    for (const line of text.split("\n")) {
      const event = parse(line);
      if (event?.op === "alive" || event?.op === "end") lastAlive = Math.max(lastAlive, event.t);
      if (event) this.#take(event);
    }
    this.lastAlive = lastAlive;
    this.#timer = setInterval(() => this.#write({ op: "alive", t: Date.now() }), ALIVE_EVERY_MS).unref();
  }

  remembered(key: string): Remembered | undefined {
    const kept = this.#sessions.get(key);
    return kept && { subscriptions: [...kept.subscriptions.values()], logLevel: kept.logLevel };
  }

  hasEnded(key: string, issued: number): boolean {
    if (this.#ended.isRemembered(key)) return true;
    return this.#ended.has(key, issued) && !this.#sessions.has(key);
  }

  subscribed(key: string, { serverId, uri, form }: JournaledSubscription): void {
    const known = this.#sessions.get(key)?.subscriptions.get(topic(serverId, uri));
    if (known?.form !== form) this.#write({ op: "sub", k: key, s: serverId, u: uri, f: form });
  }

  unsubscribed(key: string, serverId: string, uri: string): void {
    if (this.#sessions.get(key)?.subscriptions.has(topic(serverId, uri))) {
      this.#write({ op: "unsub", k: key, s: serverId, u: uri });
    }
  }

  level(key: string, level: string): void {
    if (this.#sessions.get(key)?.logLevel !== level) this.#write({ op: "level", k: key, l: level });
  }

  ended(key: string): void {
    this.#write({ op: "end", k: key, t: Date.now() });
  }

  /** Resolves when all lines so far were written, or failed to be. */
  async written(): Promise<void> {
    if (this.#work) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Drops sessions that are not open. */
  forget(isOpen: (key: string) => boolean): void {
    for (const key of [...this.#sessions.keys()]) if (!isOpen(key)) this.ended(key);
  }

  /** Rewrites the file with only the current state. */
  async compact(): Promise<void> {
    const now = Date.now();
    this.#ended.forgetUntil(now - this.#options.keepEndedMs);
    const { floor } = this.#ended;
    const lines: Line[] = floor < now - this.#options.keepEndedMs ? [] : [{ op: "floor", t: floor }];
    lines.push(...[...this.#ended].map(([k, t]) => ({ op: "end", k, t }) as const));
    for (const [k, { subscriptions, logLevel }] of this.#sessions) {
      if (logLevel !== undefined) lines.push({ op: "level", k, l: logLevel });
      for (const { serverId, uri, form } of subscriptions.values())
        lines.push({ op: "sub", k, s: serverId, u: uri, f: form });
    }
    lines.push({ op: "alive", t: now });
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    await writeFileAtomic(this.#options.file, text);
    this.#lines = lines.length;
  }

  /**
   * Stops writing: a gateway that shuts down ends its sessions, but the next process must resume
   * them.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    clearInterval(this.#timer);
    this.#write({ op: "alive", t: Date.now() });
    this.#closed = true;
    await this.#work;
  }

  #write(line: Line): void {
    if (this.#closed) return;
    this.#take(line);
    this.#waiting.push(JSON.stringify(line));
    this.#work ??= this.#run();
  }

  #take(line: Line): void {
    switch (line.op) {
      case "sub":
        this.#kept(line.k).subscriptions.set(topic(line.s, line.u), { serverId: line.s, uri: line.u, form: line.f });
        break;
      case "unsub":
        this.#sessions.get(line.k)?.subscriptions.delete(topic(line.s, line.u));
        break;
      case "level":
        this.#kept(line.k).logLevel = line.l;
        break;
      case "end":
        this.#sessions.delete(line.k);
        this.#ended.add(line.k, line.t);
        break;
      case "floor":
        this.#ended.floor = Math.max(this.#ended.floor, line.t);
        break;
      case "alive":
        break;
    }
  }

  #kept(key: string): Kept {
    const kept = this.#sessions.get(key) ?? { subscriptions: new Map(), logLevel: undefined };
    this.#sessions.set(key, kept);
    return kept;
  }

  async #run(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      const waiters = this.#waiters;
      this.#waiting = [];
      this.#waiters = [];
      try {
        if (this.#lines > COMPACT_FROM && this.#lines > 4 * this.#live) await this.compact();
        else await this.#append(batch);
        this.#lines += batch.length;
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.#options.failed(messageOf(error));
        this.#isFailing = true;
        // Lines are missing in the file now: the next write replaces it as a whole.
        this.#lines = Number.POSITIVE_INFINITY;
      }
      for (const told of waiters) told();
    }
    for (const told of this.#waiters.splice(0)) told();
    this.#work = undefined;
  }

  async #append(lines: readonly string[]): Promise<void> {
    const { written, error } = await this.#file.append(lines);
    // A file that somebody moves away is begun anew.
    await this.#file.close();
    if (written < lines.length) throw error;
  }

  get #live(): number {
    let count = this.#ended.size;
    for (const { subscriptions } of this.#sessions.values()) count += subscriptions.size + 1;
    return count;
  }
}

function topic(serverId: string, uri: string): string {
  return `${serverId} ${uri}`;
}

function parse(text: string): Line | undefined {
  if (text === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "op" in value ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The session state that must survive a restart: subscriptions, log levels, and which sessions have
 * ended.
 *
 * The file holds JSON lines, appended asynchronously in the order of the events. Only a request
 * that ends a session waits until its line is written. When most of the file is outdated, it is
 * rewritten atomically. It holds no credentials: it names sessions by their internal keys, which no
 * client can use. Losing the file loses subscriptions and nothing else. A half-written last line is
 * skipped. Only a bounded number of ended sessions is remembered, the most recent ones.
 */
import { appendFile, readFile, rename, writeFile } from "node:fs/promises";
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
  hasEnded(key: string): boolean;
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
  | { readonly op: "alive"; readonly t: number };

/** The most ended sessions that are remembered. */
export const MAX_ENDED = 10_000;
const COMPACT_FROM = 1000;
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
  readonly #ended = new Map<string, number>();
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

  hasEnded(key: string): boolean {
    return this.#ended.has(key);
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
    for (const [key, at] of this.#ended) if (now - at > this.#options.keepEndedMs) this.#ended.delete(key);
    const lines: Line[] = [...this.#ended].map(([k, t]) => ({ op: "end", k, t }));
    for (const [k, { subscriptions, logLevel }] of this.#sessions) {
      if (logLevel !== undefined) lines.push({ op: "level", k, l: logLevel });
      for (const { serverId, uri, form } of subscriptions.values())
        lines.push({ op: "sub", k, s: serverId, u: uri, f: form });
    }
    lines.push({ op: "alive", t: now });
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    await writeFile(`${this.#options.file}.new`, text, { mode: 0o600 });
    await rename(`${this.#options.file}.new`, this.#options.file);
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
    this.#waiting.push(`${JSON.stringify(line)}\n`);
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
        this.#ended.set(line.k, line.t);
        if (this.#ended.size > MAX_ENDED) this.#ended.delete(this.#ended.keys().next().value!);
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
        else await appendFile(this.#options.file, batch.join(""), { mode: 0o600 });
        this.#lines += batch.length;
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.#options.failed(messageOf(error));
        this.#isFailing = true;
      }
      for (const told of waiters) told();
    }
    for (const told of this.#waiters.splice(0)) told();
    this.#work = undefined;
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

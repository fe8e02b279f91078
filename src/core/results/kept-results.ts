/**
 * The results that are kept for their clients: in memory, and beyond a limit in files that only the
 * user can read.
 *
 * Invariants: only the principal that got a result finds it. All of them together are
 * bounded; each account has its share, and only its own oldest results make room for a new one.
 * What expired is gone, and at the end nothing is left on the disk. A result that cannot be kept is
 * reported, and not lost: `keep` returns undefined, and the caller passes it on.
 */

import { Shares } from "../../lib/structures/shares.ts";
import { Throttle } from "../../lib/timing/throttle.ts";
import { newResultId } from "../../mcp/identifiers/result-ids.ts";
import type { Client } from "../../mcp/protocol/call.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import { ResultFiles } from "./result-files.ts";

export interface KeepLimits {
  readonly preview: number;
  readonly ttlMs: number;
  readonly memoryBytes: number;
  readonly keptBytes: number;
}

/** Whose result it is, and of what. */
export interface ResultOrigin {
  readonly client: Pick<Client, "principal" | "account">;
  readonly serverId: string;
  /** The tool's name as clients see it; undefined if it is not known any more. */
  readonly tool: string | undefined;
  /** What may be read of it at once. */
  readonly maxTokens: number;
  readonly mimeType: string;
}

export interface KeptResult {
  readonly id: string;
  /** The principal that may read it. Empty: every client that knows the id. */
  readonly owner: string;
  readonly account: string;
  readonly serverId: string;
  readonly tool: string | undefined;
  readonly maxTokens: number;
  readonly mimeType: string;
  readonly size: number;
  readonly expires: number;
}

interface Entry extends KeptResult {
  /** Undefined: it is in a file. */
  readonly bytes: Buffer | undefined;
  readonly cost: number;
}

export interface KeptResultsParts {
  readonly limits: () => KeepLimits;
  /** The folder for the files. */
  readonly folder: () => string;
  readonly log: Pick<Logger, "warn">;
}

/** What a result counts at least, so that their number is bounded too. */
const MIN_COST = 4096;

export class KeptResults {
  readonly #parts: KeptResultsParts;
  readonly #files: ResultFiles;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #shares = new Shares();
  readonly #lines = new Throttle({ burst: 5, everyMs: 60_000 });
  #inMemory = 0;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer will fire. */
  #next = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(parts: KeptResultsParts) {
    this.#parts = parts;
    this.#files = new ResultFiles(parts.folder);
  }

  /** Removes what killed processes left. */
  clean(): Promise<void> {
    return this.#files.clean();
  }

  /** The tokens of a kept result that are shown. */
  get preview(): number {
    return this.#parts.limits().preview;
  }

  /** Returns undefined if there is no room, or the disk does not take it. */
  async keep(bytes: Buffer, origin: ResultOrigin): Promise<KeptResult | undefined> {
    const { ttlMs, memoryBytes } = this.#parts.limits();
    const { account, principal: owner } = origin.client;
    const cost = Math.max(bytes.length, MIN_COST);
    if (this.#isClosed || !this.#makeRoom(account, cost))
      return this.#notKept("the results of all clients take all room");
    const id = newResultId();
    const isSmall = this.#inMemory + bytes.length <= memoryBytes;
    try {
      if (isSmall) this.#inMemory += bytes.length;
      else await this.#files.write(id, bytes);
    } catch (error) {
      this.#shares.giveBack(account, cost);
      return this.#notKept(error instanceof Error ? error.message : String(error));
    }
    const { serverId, tool, maxTokens, mimeType } = origin;
    const expires = Date.now() + ttlMs;
    const kept = { id, owner, account, serverId, tool, maxTokens, mimeType, size: bytes.length, expires };
    // A copy: the bytes may be a part of something larger.
    this.#entries.set(id, { ...kept, cost, bytes: isSmall ? Buffer.from(bytes) : undefined });
    if (this.#isClosed) this.#remove(id);
    this.#wakeAt(expires);
    return kept;
  }

  /** Finds a result for a client. Undefined: there is none, or it is not the client's. */
  find(id: string, client: Pick<Client, "principal">): KeptResult | undefined {
    const entry = this.#entries.get(id);
    return entry && entry.owner === client.principal && entry.expires > Date.now() ? entry : undefined;
  }

  /** Resolves with undefined if it is gone. */
  async read({ id }: KeptResult): Promise<Buffer | undefined> {
    const entry = this.#entries.get(id);
    if (!entry || entry.bytes) return entry?.bytes;
    try {
      return await this.#files.read(id, entry.size);
    } catch (error) {
      // Removed in between, or by somebody else.
      if (this.#entries.has(id)) this.#warn(`A kept result cannot be read: ${(error as Error).message}`);
      this.#remove(id);
      return undefined;
    }
  }

  /** Removes everything. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const id of [...this.#entries.keys()]) this.#remove(id);
    await this.#files.close();
  }

  #makeRoom(account: string, cost: number): boolean {
    const { keptBytes } = this.#parts.limits();
    const others = this.#shares.total - this.#shares.of(account);
    // Even without any other of the same account.
    if (cost > keptBytes - others) return false;
    while (!this.#shares.take(account, keptBytes, cost)) {
      const oldest = this.#oldestOf(account);
      if (!oldest) return false;
      this.#remove(oldest.id);
    }
    return true;
  }

  #oldestOf(account: string): Entry | undefined {
    for (const entry of this.#entries.values()) if (entry.account === account) return entry;
    return undefined;
  }

  #remove(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    this.#shares.giveBack(entry.account, entry.cost);
    if (entry.bytes) this.#inMemory -= entry.bytes.length;
    else this.#files.remove(id);
  }

  #wakeAt(due: number): void {
    if (due >= this.#next || this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#next = due;
    this.#timer = setTimeout(() => this.#expire(), Math.max(1, due - Date.now())).unref();
  }

  #expire(): void {
    this.#next = Number.POSITIVE_INFINITY;
    const now = Date.now();
    let next = Number.POSITIVE_INFINITY;
    for (const { id, expires } of [...this.#entries.values()]) {
      if (expires <= now) this.#remove(id);
      else next = Math.min(next, expires);
    }
    if (next < Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }

  #notKept(reason: string): undefined {
    this.#warn(`A long result could not be kept, and was passed on whole: ${reason}`);
    return undefined;
  }

  #warn(message: string): void {
    if (this.#lines.pass() !== undefined) this.#parts.log.warn(message);
  }
}

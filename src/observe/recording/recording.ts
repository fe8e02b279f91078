/**
 * One recording: its request, its writer thread and its state.
 *
 * Lines go to the thread in batches. If it does not keep up, or is gone, that costs lines, which
 * are counted and logged, never memory or calls.
 */
import { messageOf } from "../../mcp/protocol/errors.ts";

/** What the thread gets when it starts. */
export interface ThreadData {
  readonly dir: string;
  readonly maxBytes: number;
  readonly run: string;
}

/** Lines in memory that changes hands: it belongs to the thread until the thread gives it back. */
export interface Batch {
  /** The lines, as they are written if nothing in them is masked. An even number of bytes. */
  readonly memory: ArrayBuffer;
  /** How many of these bytes are lines. */
  readonly bytes: number;
  readonly lines: number;
  /** The indexes of lines whose message may not be JSON. */
  readonly unread: readonly number[];
}

export type ToThread =
  | { readonly kind: "secrets"; readonly secrets: readonly string[] }
  | { readonly kind: "batch"; readonly batch: Batch }
  /** Members of the index, as JSON without braces. `isLast`: nothing follows. */
  | { readonly kind: "about"; readonly about: string; readonly isLast: boolean };

export type FromThread =
  /** A batch is done. `total`: how many bytes the recording has now. */
  | {
      readonly kind: "done";
      readonly memory: ArrayBuffer;
      readonly bytes: number;
      readonly written: number;
      readonly lost: number;
      readonly total: number;
    }
  /** The disk begins to refuse lines, or takes them again (undefined). */
  | { readonly kind: "state"; readonly problem: string | undefined }
  /** The thread needs the members of the index. */
  | { readonly kind: "ask" }
  | { readonly kind: "closed" };

export interface RecordSettings {
  readonly dir: string;
  /** Patterns of server ids. */
  readonly servers: readonly string[];
  readonly maxBytes: number;
  readonly bodies: boolean;
}

/** The thread, as `node:worker_threads` has it. It does not keep the process alive. */
export interface Thread {
  postMessage(message: ToThread, transfer?: readonly ArrayBuffer[]): void;
  on(event: "message", listener: (message: FromThread) => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  ref(): void;
  terminate(): Promise<unknown>;
}

export interface RecordingState {
  readonly settings: RecordSettings;
  readonly run: string;
  readonly startedAt: number;
  /** When it ends by itself; undefined: it does not. */
  readonly until: number | undefined;
  readonly frames: number;
  readonly lost: number;
  readonly bytes: number;
}

/** What all recordings of a gateway share. */
export interface RecordingParts {
  /** What must not be written. Another array each time that it changes. */
  readonly secrets: () => readonly string[];
  readonly startThread: (data: ThreadData) => Thread;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  readonly meters: { countFrames(recorded: number, lost: number): void };
  readonly version: string;
  /** What the gateway and its servers offer: JSON members for the index. */
  readonly offers: () => string;
}

export interface RecordingOptions {
  readonly settings: RecordSettings;
  /** Its name: sorts by its start. */
  readonly run: string;
  readonly startedAt: number;
  readonly until: number | undefined;
}

/** How often the log says that lines are lost. */
const WARN_MS = 60_000;
/** A batch has so much room, or as much as its only line needs. */
const BATCH_BYTES = 256 * 1024;
/** Lines of this length together are written at once, while they are in the CPU's cache. */
const TEXT_LENGTH = 16 * 1024;
/** The limit of bytes that wait for the thread. */
const MAX_WAITING = 16 * 1024 * 1024;

export class Recording {
  /** Whether it has the messages of all servers. */
  readonly isOfAll: boolean;
  readonly #parts: RecordingParts;
  readonly #options: RecordingOptions;
  readonly #thread: Thread;
  /** Resolves when the thread has written everything, or is gone. */
  readonly #closed: Promise<void>;
  #secrets: readonly string[] | undefined;
  #isGone = false;
  /** Lines that are not in a batch yet, and which of them may not be JSON. */
  #text = "";
  #textLines = 0;
  readonly #textUnread: number[] = [];
  /** The batch that is being filled. */
  #memory: Buffer | undefined;
  #used = 0;
  #lines = 0;
  #unread: number[] = [];
  /** How many lines the thread has, and how many bytes. */
  #sent = 0;
  #sentBytes = 0;
  readonly #free: ArrayBuffer[] = [];
  #frames = 0;
  #lost = 0;
  #bytes = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: RecordingParts, options: RecordingOptions) {
    this.#parts = parts;
    this.#options = options;
    const { dir, maxBytes, servers, bodies } = options.settings;
    const { run } = options;
    this.#thread = parts.startThread({ dir, maxBytes, run });
    this.isOfAll = servers.includes("*");
    this.#closed = new Promise((resolve) => this.#listen(resolve));
    parts.log.info({ dir, run, servers, bodies }, "Recording");
  }

  get settings(): RecordSettings {
    return this.#options.settings;
  }

  get state(): RecordingState {
    return { ...this.#options, frames: this.#frames, lost: this.#lost, bytes: this.#bytes };
  }

  /** Adds a line. `isUnread`: its message may not be JSON. */
  put(line: string, isUnread: boolean): void {
    if (this.#isGone || this.#sentBytes + this.#used + this.#text.length + line.length > MAX_WAITING)
      return this.#lose();
    if (this.#text.length + line.length > TEXT_LENGTH) this.#write();
    if (isUnread) this.#textUnread.push(this.#textLines);
    this.#textLines++;
    this.#text += line;
  }

  /** Sends the lines so far to the thread. */
  send(): void {
    this.#write();
    this.#sendBatch();
  }

  /** Moves the text into the batch, or into the next one if it does not fit. */
  #write(): void {
    if (this.#text === "") return;
    const size = Buffer.byteLength(this.#text);
    if (this.#memory && this.#used + size > this.#memory.length) this.#sendBatch();
    this.#memory ??= Buffer.from((size <= BATCH_BYTES && this.#free.pop()) || newMemory(size));
    this.#used += this.#memory.write(this.#text, this.#used);
    for (const line of this.#textUnread) this.#unread.push(this.#lines + line);
    this.#lines += this.#textLines;
    this.#text = "";
    this.#textLines = 0;
    this.#textUnread.length = 0;
  }

  #sendBatch(): void {
    if (!this.#memory) return;
    const memory = this.#memory.buffer as ArrayBuffer;
    const batch = { memory, bytes: this.#used, lines: this.#lines, unread: this.#unread };
    this.#memory = undefined;
    this.#used = this.#lines = 0;
    this.#unread = [];
    if (this.#isGone) return this.#count(0, batch.lines);
    this.#sendSecrets();
    this.#sent += batch.lines;
    this.#sentBytes += batch.bytes;
    this.#thread.postMessage({ kind: "batch", batch }, [memory]);
  }

  /** Has the thread write what it was sent, and ends it. */
  async close(): Promise<void> {
    this.#thread.ref();
    this.#describe(true);
    await this.#closed;
    await this.#thread.terminate();
    this.#parts.log.info({ dir: this.settings.dir, frames: this.#frames, lost: this.#lost }, "Recorded");
  }

  #listen(closed: () => void): void {
    const { log } = this.#parts;
    const where = { dir: this.settings.dir };
    this.#thread.on("message", (message) => {
      if (message.kind === "done") {
        this.#sentBytes -= message.bytes;
        if (message.memory.byteLength === BATCH_BYTES) this.#free.push(message.memory);
        this.#bytes = message.total;
        this.#sent -= message.written + message.lost;
        this.#count(message.written, message.lost);
      } else if (message.kind === "ask") this.#describe(false);
      else if (message.kind === "closed") closed();
      else if (message.problem === undefined) log.info(where, "The recording is written again");
      else {
        const problem = message.problem;
        log.warn({ ...where, problem }, "The recording cannot be written, and frames are lost; calls go on");
      }
    });
    this.#thread.on("error", (error) => {
      this.#isGone = true;
      this.#count(0, this.#sent);
      log.warn({ problem: messageOf(error) }, "The recorder's thread failed, and frames are lost; calls go on");
      closed();
    });
  }

  /** Sends the members of the index beside the segments. */
  #describe(isLast: boolean): void {
    if (this.#isGone) return;
    this.#sendSecrets();
    const { version, offers } = this.#parts;
    const { startedAt, settings } = this.#options;
    const about = `"goblin":${JSON.stringify(version)},"startedAt":${startedAt},"bodies":${settings.bodies},`;
    this.#thread.postMessage({ kind: "about", about: about + offers(), isLast });
  }

  /** Before lines that may hold new ones. */
  #sendSecrets(): void {
    const secrets = this.#parts.secrets();
    if (secrets === this.#secrets) return;
    this.#secrets = secrets;
    this.#thread.postMessage({ kind: "secrets", secrets });
  }

  #count(written: number, lost: number): void {
    this.#frames += written;
    this.#lost += lost;
    this.#parts.meters.countFrames(written, lost);
  }

  #lose(): void {
    this.#count(0, 1);
    const t = performance.now();
    if (this.#isGone || t - this.#warnedAt < WARN_MS) return;
    this.#warnedAt = t;
    const { dir } = this.settings;
    this.#parts.log.warn({ dir }, "The recording does not keep up, and frames are lost; calls go on");
  }
}

function newMemory(size: number): ArrayBuffer {
  return new ArrayBuffer(Math.max(BATCH_BYTES, size + (size % 2)));
}

/**
 * The flight recorder: writes the messages that pass the gateway, on both of its sides, to files.
 *
 * A message costs the hot path its line: one write into memory. Masking and writing are the work of
 * a thread. If it does not keep up, or the disk is slow or full, that costs lines, which are
 * counted, never calls. Invariant: headers are never recorded.
 */
import type { LinkTap } from "../links/tap.ts";
import type { Call } from "../protocol/call.ts";
import { messageOf } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import type { Answer, Raw } from "../protocol/json-rpc.ts";
import { matchesGlob } from "../text/glob.ts";
import { Batches } from "./batch.ts";
import { CLIENT_IN, CLIENT_OUT, FrameHeads, SERVER_IN, SERVER_OUT, shownMs } from "./frame-heads.ts";
import type { RecordingState, RecordSettings, Thread } from "./recording.ts";
import type { ThreadData } from "./thread-messages.ts";

export interface RecorderOptions {
  /** What must not be written. Another array each time that it changes. */
  readonly secrets: () => readonly string[];
  readonly startThread: (data: ThreadData) => Thread;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  readonly meters: { countFrames(recorded: number, lost: number): void };
  readonly version: string;
  /** Returns where recordings go that the config does not place. */
  readonly folder: () => string;
}

/** A larger message is recorded by its size alone. */
const LARGEST_MESSAGE = 256 * 1024;
/** A batch that is not full goes to the thread after this time. */
const BATCH_MS = 20;
/** How often the log says that lines are lost. */
const WARN_MS = 60_000;
/** Where the clock of `performance.now()` began. */
const ORIGIN = performance.timeOrigin;

/** What is around a message in its line. ASCII only. */
interface Envelope {
  readonly before: string;
  readonly after: string;
  /** Nobody knows yet whether it is JSON. What the gateway wrote, or has read already, is. */
  readonly isUnchecked: boolean;
}

const WHOLE: Envelope = { before: "", after: "", isUnchecked: false };
const UNCHECKED: Envelope = { ...WHOLE, isUnchecked: true };
const FRAME = ',"frame":';

interface Running {
  readonly settings: RecordSettings;
  readonly thread: Thread;
  readonly batches: Batches;
  readonly about: string;
  readonly run: string;
  readonly startedAt: number;
  readonly until: number | undefined;
  readonly timer: NodeJS.Timeout | undefined;
  readonly all: boolean;
  /** Resolves when the thread has written everything, or is gone. */
  readonly closed: Promise<void>;
  secrets: readonly string[] | undefined;
  isGone: boolean;
  /** How many lines the thread has. */
  sent: number;
  frames: number;
  lost: number;
  bytes: number;
  warnedAt: number;
}

export class Recorder {
  readonly #options: RecorderOptions;
  #running: Running | undefined;
  /** Recordings whose threads still write. */
  readonly #endings = new Set<Promise<void>>();
  /** The second that the newest recording is named by. */
  #named = 0;
  #isScheduled = false;
  #links = 0;
  readonly #heads = new FrameHeads();
  /** What the gateway and its servers offer: JSON members for the index. Set by the relay. */
  offers: () => string = () => '"servers":{}';

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#running !== undefined;
  }

  /** Where recordings go that the config does not place. */
  get folder(): string {
    return this.#options.folder();
  }

  get state(): RecordingState | undefined {
    return this.#running && stateOf(this.#running);
  }

  /**
   * Starts a recording, and ends the one under way: each message in between is in one of them.
   * `forMs`: it ends by itself after that.
   */
  async start(settings: RecordSettings, forMs?: number): Promise<RecordingState> {
    const { log, version } = this.#options;
    const startedAt = Date.now();
    const run = this.#nameOf(startedAt);
    const { dir, maxBytes, servers, bodies } = settings;
    const thread = this.#options.startThread({ dir, maxBytes, run });
    const running: Running = {
      settings,
      thread,
      batches: new Batches((number, slot) => thread.postMessage({ kind: "slot", number, slot })),
      about: `"goblin":${JSON.stringify(version)},"startedAt":${startedAt},"bodies":${bodies},`,
      run,
      startedAt,
      until: forMs === undefined ? undefined : startedAt + forMs,
      timer: forMs === undefined ? undefined : setTimeout(() => void this.stop(), forMs).unref(),
      all: servers.includes("*"),
      closed: new Promise((resolve) => this.#listen(thread, () => running, resolve)),
      secrets: undefined,
      isGone: false,
      sent: 0,
      frames: 0,
      lost: 0,
      bytes: 0,
      warnedAt: Number.NEGATIVE_INFINITY,
    };
    const before = this.#running;
    if (before) this.#send(before);
    this.#running = running;
    log.info({ dir, run, servers, bodies }, "Recording");
    if (before) await this.#end(before);
    return stateOf(running);
  }

  /** Names a recording by its start; two that begin in one second have two names. */
  #nameOf(startedAt: number): string {
    this.#named = Math.max(Math.floor(startedAt / 1000), this.#named + 1);
    return `${new Date(this.#named * 1000).toISOString().replace(/[-:]|\.\d+/g, "")}-${process.pid}`;
  }

  #listen(thread: Thread, of: () => Running, closed: () => void): void {
    const { log } = this.#options;
    thread.on("message", (message) => {
      const running = of();
      const where = { dir: running.settings.dir };
      if (message.kind === "done") {
        running.batches.give(message.slot);
        running.bytes = message.total;
        running.sent -= message.written + message.lost;
        this.#count(running, message.written, message.lost);
      } else if (message.kind === "ask") this.#describe(running, false);
      else if (message.kind === "closed") closed();
      else if (message.problem === undefined) log.info(where, "The recording is written again");
      else {
        const problem = message.problem;
        log.warn({ ...where, problem }, "The recording cannot be written, and frames are lost; calls go on");
      }
    });
    thread.on("error", (error) => {
      const running = of();
      running.isGone = true;
      this.#count(running, 0, running.sent);
      log.warn({ problem: messageOf(error) }, "The recorder's thread failed, and frames are lost; calls go on");
      closed();
    });
  }

  /** Ends the recording and writes what waits. Returns what it was. */
  async stop(): Promise<RecordingState | undefined> {
    const running = this.#running;
    if (running) {
      this.#send(running);
      this.#running = undefined;
      void this.#end(running);
    }
    await Promise.all(this.#endings);
    return running && stateOf(running);
  }

  /** Has the thread write what it was sent, and ends it. */
  #end(running: Running): Promise<void> {
    const ending = this.#close(running).finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
    return ending;
  }

  async #close(running: Running): Promise<void> {
    clearTimeout(running.timer);
    running.thread.ref();
    this.#describe(running, true);
    await running.closed;
    await running.thread.terminate();
    this.#options.log.info({ dir: running.settings.dir, frames: running.frames, lost: running.lost }, "Recorded");
  }

  /** Tells the thread what the index says beside the segments. */
  #describe(running: Running, isLast: boolean): void {
    if (running.isGone) return;
    this.#tellSecrets(running);
    running.thread.postMessage({ kind: "about", about: running.about + this.offers(), isLast });
  }

  /** A client's request came in. Its server is not known yet. */
  began(flight: Flight): void {
    const { call } = flight;
    call.onEmit((notification) => {
      if (!this.#wants(flight.serverId)) return;
      this.#add(
        this.#heads.begin(CLIENT_OUT, now()) + this.#heads.call(call) + this.#heads.server(flight.serverId),
        notification,
      );
    });
    if (this.#running?.all) this.#addRequest(flight);
  }

  /** A client's request was answered. */
  ended(flight: Flight, answer: Answer, outcome: string): void {
    if (!this.#running || !this.#wants(flight.serverId)) return;
    if (!this.#running.all) this.#addRequest(flight);
    const { call, serverId, startedAt } = flight;
    const t = now();
    const ms = shownMs(t - ORIGIN - startedAt);
    const head = this.#heads.begin(CLIENT_OUT, t) + this.#heads.call(call) + this.#heads.server(serverId);
    const before = `{"jsonrpc":"2.0","id":"${call.requestId}","${answer.ok ? "result" : "error"}":`;
    this.#add(`${head},"ms":${ms},"outcome":"${outcome}"`, answer.raw, { before, after: "}", isUnchecked: false });
  }

  /** Returns what listens to a new connection of a server. */
  tap(serverId: string): LinkTap {
    const link = ++this.#links;
    const server = `${this.#heads.server(serverId)},"link":${link}`;
    const head = (way: string, call: Call | undefined): string =>
      this.#heads.begin(way, now()) + (call ? this.#heads.call(call) : "") + server;
    const recorder = this;
    return {
      get isOn() {
        return recorder.#running !== undefined;
      },
      sent: (text, call) => {
        if (this.#wants(serverId)) this.#add(head(SERVER_OUT, call), text);
      },
      received: (bytes, call) => {
        if (this.#wants(serverId)) this.#add(head(SERVER_IN, call), bytes, UNCHECKED);
      },
    };
  }

  #addRequest(flight: Flight): void {
    const { call, serverId, startedAt } = flight;
    const { requestId, method, text } = call;
    const before = `{"jsonrpc":"2.0","id":"${requestId}","method":${this.#heads.method(method)},"params":`;
    const head =
      this.#heads.begin(CLIENT_IN, ORIGIN + startedAt) + this.#heads.call(call) + this.#heads.server(serverId);
    this.#add(head, text, { before, after: "}", isUnchecked: false });
  }

  #wants(serverId: string | undefined): boolean {
    const running = this.#running;
    if (!running) return false;
    if (running.all) return true;
    return serverId !== undefined && running.settings.servers.some((pattern) => matchesGlob(pattern, serverId));
  }

  /** `head`: the members of the line before the message. */
  #add(head: string, raw: Raw, { before, after, isUnchecked }: Envelope = WHOLE): void {
    const running = this.#running!;
    const { batches, settings } = running;
    const isShort = !settings.bodies || raw.length > LARGEST_MESSAGE;
    const opening = isShort
      ? { text: `${head},"bytes":${Buffer.byteLength(raw)}`, begun: 0, after: "", isUnchecked: false }
      : { text: head + FRAME + before, begun: before.length, after, isUnchecked };
    const message = isShort ? "" : raw;
    if (!batches.add(opening, message, this.#heads.ms)) {
      this.#send(running);
      if (running.isGone || !batches.add(opening, message, this.#heads.ms)) return this.#lose(running);
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      if (this.#running) this.#send(this.#running);
    }, BATCH_MS).unref();
  }

  /** Sends the lines so far to the thread. */
  #send(running: Running): void {
    if (running.batches.isEmpty) return;
    const batch = running.batches.take();
    if (running.isGone) return this.#count(running, 0, batch.lines);
    this.#tellSecrets(running);
    running.sent += batch.lines;
    running.thread.postMessage({ kind: "batch", batch });
  }

  /** Before lines that may hold new ones. */
  #tellSecrets(running: Running): void {
    const secrets = this.#options.secrets();
    if (secrets === running.secrets) return;
    running.secrets = secrets;
    running.thread.postMessage({ kind: "secrets", secrets });
  }

  #count(running: Running, written: number, lost: number): void {
    running.frames += written;
    running.lost += lost;
    this.#options.meters.countFrames(written, lost);
  }

  /** A line found no room. */
  #lose(running: Running): void {
    this.#count(running, 0, 1);
    const t = performance.now();
    if (running.isGone || t - running.warnedAt < WARN_MS) return;
    running.warnedAt = t;
    const { dir } = running.settings;
    this.#options.log.warn({ dir }, "The recording does not keep up, and frames are lost; calls go on");
  }
}

function now(): number {
  return ORIGIN + performance.now();
}

function stateOf({ settings, run, startedAt, until, frames, lost, bytes }: Running): RecordingState {
  return { settings, run, startedAt, until, frames, lost, bytes };
}

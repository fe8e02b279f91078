/**
 * The flight recorder: writes the messages that pass the gateway, on both of its sides, to files.
 *
 * A message costs the hot path one object. Masking and writing happen later, in slices, and a disk
 * that is slow or full costs lines, which are counted, never calls. Invariant: headers are never
 * recorded, and no line is written before its secrets are masked.
 */
import type { LinkTap } from "../links/tapped.ts";
import type { Call, Client } from "../protocol/call.ts";
import type { Flight } from "../protocol/flight.ts";
import { type Answer, type Raw, rawText } from "../protocol/json-rpc.ts";
import { matchesGlob } from "../text/glob.ts";
import { messageMembers, type Side } from "./frame.ts";
import { type Masks, maskMessage } from "./mask-message.ts";
import { SegmentFiles } from "./segment-files.ts";

export interface RecordSettings {
  readonly dir: string;
  /** Patterns of server ids. */
  readonly servers: readonly string[];
  readonly maxBytes: number;
  readonly bodies: boolean;
}

export interface RecorderOptions {
  readonly masks: Masks;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  readonly meters: { countFrames(recorded: number, lost: number): void };
  readonly version: string;
  /** Returns where recordings go that the config does not place. */
  readonly folder: () => string;
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

interface Entry {
  readonly t: number;
  readonly side: Side;
  readonly dir: "in" | "out";
  readonly call: Call | undefined;
  readonly server: string | undefined;
  readonly link: number;
  /** The message is `before`, `raw` and `after`, as one text. */
  readonly raw: Raw;
  readonly before: string;
  readonly after: string;
  /** Members of its line, each with a comma before it. */
  readonly more: string;
}

/** A larger message is recorded by its size alone: masking it would hold up other calls. */
const LARGEST_MESSAGE = 1024 * 1024;
const MOST_QUEUED = 10_000;
const MOST_QUEUED_BYTES = 16 * 1024 * 1024;
const SLICE_MS = 2;
/** Not in each turn of the event loop: turns would be shorter, and each holds fewer messages. */
const BATCH_MS = 20;
const SHOWN = 200;
/** Where the clock of `performance.now()` began. */
const ORIGIN = performance.timeOrigin;

interface Running {
  readonly settings: RecordSettings;
  readonly files: SegmentFiles;
  readonly run: string;
  readonly startedAt: number;
  readonly until: number | undefined;
  readonly timer: NodeJS.Timeout | undefined;
  readonly all: boolean;
  frames: number;
  lost: number;
}

export class Recorder {
  readonly #options: RecorderOptions;
  #running: Running | undefined;
  #queue: Entry[] = [];
  #queuedBytes = 0;
  #isScheduled = false;
  #links = 0;
  #clients = new WeakMap<Client, string>();
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
    if (!this.#running) return undefined;
    const { settings, run, startedAt, until, frames, lost, files } = this.#running;
    return { settings, run, startedAt, until, frames, lost, bytes: files.bytes };
  }

  /** Starts a recording, and ends the one under way. `forMs`: it ends by itself after that. */
  async start(settings: RecordSettings, forMs?: number): Promise<RecordingState> {
    await this.stop();
    const { log, meters, version, masks } = this.#options;
    const startedAt = Date.now();
    const run = `${new Date(startedAt).toISOString().replace(/[-:]|\.\d+/g, "")}-${process.pid}`;
    const where = { dir: settings.dir };
    const about = `"goblin":${JSON.stringify(version)},"startedAt":${startedAt},"bodies":${settings.bodies},`;
    const files = new SegmentFiles({
      dir: settings.dir,
      maxBytes: settings.maxBytes,
      run,
      about: () => about + maskMessage(`{${this.offers()}}`, true, masks).text.slice(1, -1),
      onWritten: (lines) => {
        running.frames += lines;
        meters.countFrames(lines, 0);
      },
      onLost: (lines) => {
        running.lost += lines;
        meters.countFrames(0, lines);
      },
      onState: (problem) => {
        if (problem === undefined) log.info(where, "The recording is written again");
        else log.warn({ ...where, problem }, "The recording cannot be written, and frames are lost; calls go on");
      },
    });
    const until = forMs === undefined ? undefined : startedAt + forMs;
    const timer = forMs === undefined ? undefined : setTimeout(() => void this.stop(), forMs).unref();
    const all = settings.servers.includes("*");
    const running: Running = { settings, files, run, startedAt, until, timer, all, frames: 0, lost: 0 };
    this.#running = running;
    log.info({ ...where, run, servers: settings.servers, bodies: settings.bodies }, "Recording");
    return this.state!;
  }

  /** Ends the recording and writes what waits. Returns what it was. */
  async stop(): Promise<RecordingState | undefined> {
    const running = this.#running;
    if (!running) return undefined;
    clearTimeout(running.timer);
    this.#format(Number.POSITIVE_INFINITY);
    const last = this.state;
    this.#running = undefined;
    await running.files.close();
    this.#options.log.info({ dir: running.settings.dir, frames: running.frames, lost: running.lost }, "Recorded");
    return { ...last!, frames: running.frames, lost: running.lost, bytes: running.files.bytes };
  }

  /** A client's request came in. Its server is not known yet. */
  began(flight: Flight): void {
    const { call } = flight;
    call.onEmit = (notification) => {
      if (!this.#wants(flight.serverId)) return;
      const { serverId: server } = flight;
      const [t, whole] = [now(), { before: "", after: "", more: "" }];
      this.#add({ t, side: "client", dir: "out", call, server, link: 0, raw: notification, ...whole });
    };
    if (this.#running?.all) this.#addRequest(flight);
  }

  /** A client's request was answered. */
  ended(flight: Flight, answer: Answer, outcome: string): void {
    if (!this.#running || !this.#wants(flight.serverId)) return;
    if (!this.#running.all) this.#addRequest(flight);
    const { call, serverId, startedAt } = flight;
    const t = now();
    const ms = t - ORIGIN - startedAt;
    this.#add({
      t,
      side: "client",
      dir: "out",
      call,
      server: serverId,
      link: 0,
      raw: answer.raw,
      before: `{"jsonrpc":"2.0","id":"${call.requestId}","${answer.ok ? "result" : "error"}":`,
      after: "}",
      more: `,"ms":${ms.toFixed(3)},"outcome":"${outcome}"`,
    });
  }

  /** Returns what listens to a new connection of a server. */
  tap(serverId: string): LinkTap {
    const link = ++this.#links;
    const add = (dir: "in" | "out", raw: Raw, call: Call | undefined): void => {
      if (!this.#wants(serverId)) return;
      const t = now();
      // Written out, as elsewhere here: a spread would cost more than all the rest.
      this.#add({ t, side: "server", dir, call, server: serverId, link, raw, before: "", after: "", more: "" });
    };
    const recorder = this;
    return {
      get isOn() {
        return recorder.isOn;
      },
      sent: (text, call) => add("out", text, call),
      received: (bytes, call) => add("in", bytes, call),
    };
  }

  #addRequest(flight: Flight): void {
    const { call, serverId, startedAt } = flight;
    const { requestId, method, text } = call;
    this.#add({
      t: ORIGIN + startedAt,
      side: "client",
      dir: "in",
      call,
      server: serverId,
      link: 0,
      raw: text,
      before: `{"jsonrpc":"2.0","id":"${requestId}","method":${JSON.stringify(method)},"params":`,
      after: "}",
      more: "",
    });
  }

  #wants(serverId: string | undefined): boolean {
    const running = this.#running;
    if (!running) return false;
    if (running.all) return true;
    return serverId !== undefined && running.settings.servers.some((pattern) => matchesGlob(pattern, serverId));
  }

  #add(entry: Entry): void {
    const running = this.#running!;
    const isOver = this.#queue.length >= MOST_QUEUED || this.#queuedBytes > MOST_QUEUED_BYTES;
    if (isOver || running.files.isFull) {
      running.lost++;
      this.#options.meters.countFrames(0, 1);
      return;
    }
    this.#queue.push(entry);
    this.#queuedBytes += entry.raw.length;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => this.#format(SLICE_MS), BATCH_MS).unref();
  }

  /** Makes lines of the messages that wait, for at most this long. */
  #format(ms: number): void {
    this.#isScheduled = false;
    const running = this.#running;
    if (!running) {
      this.#queue = [];
      this.#queuedBytes = 0;
      return;
    }
    const until = performance.now() + ms;
    let done = 0;
    for (const entry of this.#queue) {
      done++;
      this.#queuedBytes -= entry.raw.length;
      running.files.add(this.#line(entry, running.settings.bodies), entry.t);
      if ((done & 15) === 0 && performance.now() > until) break;
    }
    this.#queue = done === this.#queue.length ? [] : this.#queue.slice(done);
    if (this.#queue.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => this.#format(ms));
  }

  #line(entry: Entry, bodies: boolean): string {
    const { t, side, dir, call, server, link, raw, before, after, more } = entry;
    const who = call ? `,"call":"${call.requestId}"${this.#who(call)}` : "";
    const via = server === undefined ? "" : `,"server":${JSON.stringify(server)}`;
    const on = link === 0 ? "" : `,"link":${link}`;
    const head = `{"t":${t.toFixed(3)},"side":"${side}","dir":"${dir}"${who}${via}${on}${more}`;
    if (!bodies || raw.length > LARGEST_MESSAGE) return `${head},"bytes":${Buffer.byteLength(raw)}}\n`;
    // What the gateway wrote itself, or has read already, is JSON.
    const isChecked = side === "client" || typeof raw === "string";
    const { text, isJson, isMasked } = maskMessage(before + rawText(raw) + after, isChecked, this.#options.masks);
    return `${head}${messageMembers(text, isJson)}${isMasked ? ',"masked":true' : ""}}\n`;
  }

  /** The members about who made a call, and what it was. */
  #who({ client, method, who }: Call): string {
    let known = this.#clients.get(client);
    if (known === undefined) {
      const { name } = client.info;
      known =
        (who.name === "" ? "" : `,"who":${JSON.stringify(who.name.slice(0, SHOWN))}`) +
        (typeof name === "string" ? `,"client":${JSON.stringify(name.slice(0, SHOWN))}` : "") +
        (client.hasSession ? `,"session":${JSON.stringify(client.key.slice(0, 8))}` : "");
      this.#clients.set(client, known);
    }
    return `,"method":${JSON.stringify(method.slice(0, SHOWN))}${known}`;
  }
}

function now(): number {
  return ORIGIN + performance.now();
}

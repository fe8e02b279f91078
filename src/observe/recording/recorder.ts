/**
 * The flight recorder: writes the messages that pass the gateway, on both of its sides, to files.
 *
 * A call costs the hot path a line: one write into memory. Masking and writing are the work of a
 * thread. If it does not keep up, or the disk is slow or full, that costs lines, which are
 * counted, never calls. Invariant: headers are never recorded.
 */

import { matchesGlob } from "../../lib/text/glob.ts";
import type { LinkTap } from "../../mcp/links/tap.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import type { Answer, Raw } from "../../mcp/protocol/json-rpc.ts";
import type { Opening } from "./batch.ts";
import { CALL, CLIENT_IN, CLIENT_OUT, FrameHeads, SERVER_IN, SERVER_OUT, shownMs, shownUs } from "./frame-heads.ts";
import { type Arrival, HeldCalls, Trail, type TrailEvents } from "./held.ts";
import { Recording, type RecordingParts, type RecordingState, type RecordSettings } from "./recording.ts";
import { CHECKED, type LineKind, UNCHECKED, WHOLE } from "./thread-messages.ts";

export interface RecorderOptions extends Omit<RecordingParts, "offers"> {
  /** Returns where recordings go that the config does not place. */
  readonly folder: () => string;
}

/** A larger message is recorded by its size alone. */
const MAX_MESSAGE_BYTES = 256 * 1024;
/** A batch that is not full goes to the thread after this time. */
const BATCH_MS = 50;
/** Longer messages do not wait for the end of their call, and more together are not one line. */
const MAX_HELD_BYTES = 3 * 1024;
/** The lines of this many calls are made at once. */
const MAX_FINISHED = 32;
/** Where the clock of `performance.now()` began, in microseconds. */
const ORIGIN = Math.floor(performance.timeOrigin * 1000);

/** What is around a message in its line. ASCII only. */
interface Envelope {
  readonly before: string;
  readonly after: string;
  /** What the gateway wrote, or has read already, is JSON. */
  readonly kind: LineKind;
}

const PLAIN: Envelope = { before: "", after: "", kind: CHECKED };
const UNREAD: Envelope = { ...PLAIN, kind: UNCHECKED };
const FRAME = ',"frame":';

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #parts: RecordingParts;
  #running: Recording | undefined;
  /** Ends the recording. */
  #timer: NodeJS.Timeout | undefined;
  /** Recordings whose threads still write. */
  readonly #endings = new Set<Promise<void>>();
  /** The second that the newest recording is named by. */
  #named = 0;
  #isScheduled = false;
  #links = 0;
  readonly #heads: FrameHeads;
  readonly #held = new HeldCalls();
  /** The newest message from a server, if nobody knows yet whether it answered a call. */
  #newest: Arrival | undefined;
  /** Calls that have ended, and will be a line each. */
  readonly #finished: Trail[] = [];
  /** The newest time that was given to a message. */
  #latest = 0;
  /** What the gateway and its servers offer: JSON members for the index. Set by the relay. */
  offers: () => string = () => '"servers":{}';

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#parts = { ...options, offers: () => this.offers() };
    this.#heads = new FrameHeads(options.secrets);
  }

  get isOn(): boolean {
    return this.#running !== undefined;
  }

  /** Where recordings go that the config does not place. */
  get folder(): string {
    return this.#options.folder();
  }

  get state(): RecordingState | undefined {
    return this.#running?.state;
  }

  /**
   * Starts a recording, and ends the one under way: each message in between is in one of them.
   * `forMs`: it ends by itself after that.
   */
  async start(settings: RecordSettings, forMs?: number): Promise<RecordingState> {
    const startedAt = Date.now();
    const until = forMs === undefined ? undefined : startedAt + forMs;
    const recording = new Recording(this.#parts, { settings, run: this.#nameOf(startedAt), startedAt, until });
    const ended = this.#endRunning();
    this.#running = recording;
    this.#timer = forMs === undefined ? undefined : setTimeout(() => void this.stop(), forMs).unref();
    await ended;
    return recording.state;
  }

  /** Names a recording by its start; two that begin in one second have two names. */
  #nameOf(startedAt: number): string {
    this.#named = Math.max(Math.floor(startedAt / 1000), this.#named + 1);
    return `${new Date(this.#named * 1000).toISOString().replace(/[-:]|\.\d+/g, "")}-${process.pid}`;
  }

  /** Ends the recording and writes what waits. Returns what it was. */
  async stop(): Promise<RecordingState | undefined> {
    const recording = this.#running;
    void this.#endRunning();
    await Promise.all(this.#endings);
    return recording?.state;
  }

  #endRunning(): Promise<void> | undefined {
    const recording = this.#running;
    if (!recording) return undefined;
    clearTimeout(this.#timer);
    this.#flush(recording, true);
    this.#running = undefined;
    const ending = recording.close().finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
    return ending;
  }

  /** A client's request came in. Its server is not known yet. */
  began(flight: Flight): void {
    const trail = new Trail(flight, this.#events);
    flight.call.witness = trail;
    // Of other calls, nobody knows yet whether they are recorded.
    if (!this.#running?.isOfAll) return;
    this.#held.hold(trail);
    this.#schedule();
  }

  readonly #events: TrailEvents = {
    emitted: ({ call, serverId }, notification) => {
      if (!this.#wants(serverId)) return;
      const about = this.#heads.call(call) + this.#heads.server(serverId);
      this.#add(this.#heads.begin(CLIENT_OUT, this.#now()) + about, notification);
    },
    answered: (trail, message, answer) => {
      const newest = this.#newest;
      if (newest?.bytes !== message || newest.over !== trail.over || !trail.isHeld) return false;
      trail.arrival = newest;
      trail.answer = answer;
      this.#newest = undefined;
      return true;
    },
  };

  /** A client's request was answered. It may be told twice. */
  ended(flight: Flight, answer: Answer, outcome: string): void {
    const { call, serverId, startedAt } = flight;
    const trail = call.witness;
    if (!(trail instanceof Trail)) return;
    call.witness = undefined;
    const isHeld = trail.isHeld;
    if (isHeld) this.#held.release(trail);
    if (!this.#running || !this.#wants(serverId)) return;
    const ms = performance.now() - startedAt;
    if (isHeld) {
      if (this.#isWhole(trail, answer)) {
        trail.ms = ms;
        trail.outcome = outcome;
        // Its bytes may be part of a large buffer.
        trail.arrival = undefined;
        if (this.#finished.push(trail) === MAX_FINISHED) this.#addFinished();
        return;
      }
      this.#addHeld(trail);
    } else if (!trail.isAsked) this.#addRequest(trail);
    const head = this.#heads.begin(CLIENT_OUT, this.#now()) + this.#heads.call(call) + this.#heads.server(serverId);
    const before = `{"jsonrpc":"2.0","id":"${call.requestId}","${answer.ok ? "result" : "error"}":`;
    const about = `${head},"ms":${shownMs(ms)},"outcome":"${outcome}"`;
    this.#add(about, answer.raw, { before, after: "}", kind: CHECKED });
  }

  /** Returns whether one line holds all messages of a call. */
  #isWhole(trail: Trail, { ok, raw }: Answer): boolean {
    const { flight, sent, shape, answer } = trail;
    if (!shape || !ok || raw !== answer?.raw || typeof raw !== "string") return false;
    const { text, method } = flight.call;
    const isShort = text.length + sent.length + raw.length <= MAX_HELD_BYTES && this.#heads.isExact(method);
    return isShort && this.#running!.settings.bodies;
  }

  /** Writes the lines of calls that have ended. One after the other, they cost less each. */
  #addFinished(): void {
    for (const trail of this.#finished) this.#addWhole(trail);
    this.#finished.length = 0;
    // While the parts of their text are in the CPU's cache.
    this.#running!.write();
  }

  #addWhole({ flight, sent, over, answer, shape, ms, outcome }: Trail): void {
    const { call, startedAt, sentAt, answeredAt, renamed, sentParams, sentId, target } = flight;
    const head = this.#heads.begin(CALL, ORIGIN + microseconds(startedAt)) + this.#heads.whole(call, over);
    const times = `${shownUs(sentAt - startedAt)},${shownUs(answeredAt - startedAt)},${shownUs(ms)}`;
    // In most calls, the server's request differs from the client's in its id and the name alone.
    const name = renamed !== undefined && sentParams === renamed ? this.#heads.exact(target!) : undefined;
    // The thread would take an escape for a secret, and write all messages by themselves.
    const message = name !== undefined && !name.includes("\\") ? `[${sentId},${name}]` : sent;
    const body = `${call.text},"sent":${message},"result":`;
    const opening = head + times + this.#heads.ending(outcome, shape!) + body;
    this.#put({ text: opening, begun: body.length, after: "", kind: WHOLE }, answer!.raw);
  }

  /** Writes the messages of a call that waited, each by itself. */
  #addHeld(trail: Trail): void {
    this.#addRequest(trail);
    const { flight, sent, over, arrival } = trail;
    if (sent === "") return;
    const at = ORIGIN + microseconds(flight.sentAt);
    this.#add(this.#headOver(SERVER_OUT, { call: flight.call, over, at }), sent);
    if (arrival) this.#addArrival(arrival);
  }

  /** Returns a tap for a new connection of a server. */
  tap(serverId: string): LinkTap {
    const link = ++this.#links;
    const over = `${this.#heads.server(serverId)},"link":${link}`;
    const recorder = this;
    return {
      get isOn() {
        return recorder.#running !== undefined;
      },
      sent: (text, call) => {
        if (!this.#wants(serverId)) return;
        const trail = call?.witness;
        if (trail instanceof Trail && trail.isHeld) {
          if (trail.sent === "" && text.length <= MAX_HELD_BYTES) {
            trail.sent = text;
            trail.over = over;
            return;
          }
          this.#held.release(trail);
          this.#addHeld(trail);
        }
        this.#add(this.#headOver(SERVER_OUT, { call, over, at: this.#now() }), text);
      },
      received: (bytes, call) => {
        if (!this.#wants(serverId)) return;
        if (this.#newest) this.#addArrival(this.#newest);
        this.#newest = { bytes, over, call, at: this.#now() };
        if (bytes.length <= MAX_HELD_BYTES) return this.#schedule();
        this.#addArrival(this.#newest);
        this.#newest = undefined;
      },
    };
  }

  #headOver(way: string, { call, over, at }: Omit<Arrival, "bytes">): string {
    return this.#heads.begin(way, at) + (call ? this.#heads.call(call) : "") + over;
  }

  #addArrival(arrival: Arrival): void {
    this.#add(this.#headOver(SERVER_IN, arrival), arrival.bytes, UNREAD);
  }

  #addRequest(trail: Trail): void {
    trail.isAsked = true;
    const { call, serverId, startedAt } = trail.flight;
    const { requestId, method, text } = call;
    const before = `{"jsonrpc":"2.0","id":"${requestId}","method":${this.#heads.exact(method)},"params":`;
    const head =
      this.#heads.begin(CLIENT_IN, ORIGIN + microseconds(startedAt)) +
      this.#heads.call(call) +
      this.#heads.server(serverId);
    this.#add(head, text, { before, after: "}", kind: CHECKED });
  }

  /** Microseconds since 1970. No two messages have the same: readers put them in this order. */
  #now(): number {
    this.#latest = Math.max(ORIGIN + microseconds(performance.now()), this.#latest + 1);
    return this.#latest;
  }

  #wants(serverId: string | undefined): boolean {
    const running = this.#running;
    if (!running) return false;
    if (running.isOfAll) return true;
    return serverId !== undefined && running.settings.servers.some((pattern) => matchesGlob(pattern, serverId));
  }

  /** `head`: the members of the line before the message. */
  #add(head: string, raw: Raw, { before, after, kind }: Envelope = PLAIN): void {
    const isShort = !this.#running!.settings.bodies || raw.length > MAX_MESSAGE_BYTES;
    if (isShort) {
      this.#put({ text: `${head},"bytes":${Buffer.byteLength(raw)}`, begun: 0, after: "", kind: CHECKED }, "");
    } else this.#put({ text: head + FRAME + before, begun: before.length, after, kind }, raw);
  }

  #put(opening: Opening, raw: Raw): void {
    this.#running!.put(opening, raw, this.#heads.ms);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      if (this.#running) this.#flush(this.#running, false);
    }, BATCH_MS).unref();
  }

  /** Writes what has waited for long enough, or all that waits, and sends it to the thread. */
  #flush(recording: Recording, isAll: boolean): void {
    if (this.#newest) this.#addArrival(this.#newest);
    this.#newest = undefined;
    this.#addFinished();
    for (const trail of this.#held.due(isAll)) {
      this.#held.release(trail);
      this.#addHeld(trail);
    }
    if (this.#held.size > 0) this.#schedule();
    recording.send();
  }
}

function microseconds(ms: number): number {
  return Math.floor(ms * 1000);
}

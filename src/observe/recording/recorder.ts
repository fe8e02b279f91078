/**
 * The flight recorder: writes the messages that pass the gateway, on both of its sides, to files.
 *
 * Each message is one line, put together here and handed to a thread, which masks and writes it. If
 * the thread does not keep up, or the disk is slow or full, that costs lines, which are counted,
 * never calls. Invariant: headers are never recorded.
 */

import { matchesGlob } from "../../lib/text/glob.ts";
import type { LinkTap } from "../../mcp/links/tap.ts";
import type { Call, Client, Witness } from "../../mcp/protocol/call.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import { type Answer, answerText, type Raw, requestText } from "../../mcp/protocol/json-rpc.ts";
import { FRAME, lineBeginning, lineEnding } from "./frame.ts";
import { Recording, type RecordingParts, type RecordingState, type RecordSettings } from "./recording.ts";

export interface RecorderOptions extends RecordingParts {
  /** Returns where recordings go that the config does not place. */
  readonly folder: () => string;
}

/** A larger message is recorded by its size alone. */
const MAX_MESSAGE_BYTES = 256 * 1024;
/** Lines go to the thread after this time at the latest. */
const BATCH_MS = 50;
/** Longer names are cut. */
const MAX_NAME_LENGTH = 200;
/** Where the clock of `performance.now()` began, in microseconds. */
const ORIGIN = Math.floor(performance.timeOrigin * 1000);

/** What the recorder knows of a call that has not ended. */
class CallTrail implements Witness {
  readonly flight: Flight;
  readonly #onEmitted: (trail: CallTrail, notification: string) => void;
  /** The members about the call that each of its lines has. */
  readonly about: string;
  /** Whether the client's request has been recorded. */
  hasRequest = false;

  constructor(flight: Flight, onEmitted: (trail: CallTrail, notification: string) => void) {
    this.flight = flight;
    this.#onEmitted = onEmitted;
    this.about = aboutCall(flight.call);
  }

  emitted(notification: string): void {
    this.#onEmitted(this, notification);
  }
}

export class Recorder {
  readonly #options: RecorderOptions;
  #running: Recording | undefined;
  /** Ends the recording. */
  #timer: NodeJS.Timeout | undefined;
  /** Recordings whose threads still write. */
  readonly #endings = new Set<Promise<void>>();
  /** The second that the newest recording is named by. */
  #named = 0;
  #isScheduled = false;
  #links = 0;
  /** The time of the newest line, in microseconds. */
  #latest = 0;

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
    return this.#running?.state;
  }

  /**
   * Starts a recording, and ends the current one: each message in between is in one of them.
   * `forMs`: it ends by itself after that.
   */
  async start(settings: RecordSettings, forMs?: number): Promise<RecordingState> {
    const startedAt = Date.now();
    const until = forMs === undefined ? undefined : startedAt + forMs;
    const recording = new Recording(this.#options, { settings, run: this.#nameOf(startedAt), startedAt, until });
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

  /** Ends the recording and writes the lines that wait. Returns its last state. */
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
    recording.send();
    this.#running = undefined;
    const ending = recording.close().finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
    return ending;
  }

  /** A client's request came in. Its server is not known yet. */
  began(flight: Flight): void {
    const trail = new CallTrail(flight, this.#emitted);
    flight.call.witness = trail;
    // Without its server, a recording of some servers cannot tell whether it wants the request.
    if (this.#running?.isOfAll) this.#addRequest(trail);
  }

  readonly #emitted = (trail: CallTrail, notification: string): void => {
    const { serverId } = trail.flight;
    if (!this.#wants(serverId)) return;
    this.#addRequest(trail);
    this.#add(lineBeginning("client", "out", this.#now()) + trail.about + aboutServer(serverId), notification);
  };

  /** A client's request was answered. May be called twice. */
  ended(flight: Flight, answer: Answer, outcome: string): void {
    const { call, serverId, startedAt } = flight;
    const trail = call.witness;
    if (!(trail instanceof CallTrail)) return;
    call.witness = undefined;
    if (!this.#wants(serverId)) return;
    this.#addRequest(trail);
    const ms = Math.floor((performance.now() - startedAt) * 1000) / 1000;
    const head = lineBeginning("client", "out", this.#now()) + trail.about + aboutServer(serverId);
    const about = `${head},"ms":${ms},"outcome":"${outcome}"`;
    this.#add(about, answer.raw, (raw) => answerText(call.requestId, { ...answer, raw }));
  }

  #addRequest(trail: CallTrail): void {
    if (trail.hasRequest) return;
    trail.hasRequest = true;
    const { call, serverId, startedAt } = trail.flight;
    const head = lineBeginning("client", "in", ORIGIN + microseconds(startedAt)) + trail.about + aboutServer(serverId);
    this.#add(head, call.text, (text) => requestText(call.requestId, call.method, text));
  }

  /** Returns a tap for a new connection of a server. */
  tap(serverId: string): LinkTap {
    const link = `${aboutServer(serverId)},"link":${++this.#links}`;
    const recorder = this;
    return {
      get isOn() {
        return recorder.#running !== undefined;
      },
      sent: (text, call) => {
        if (!this.#wants(serverId)) return;
        if (call?.witness instanceof CallTrail) this.#addRequest(call.witness);
        this.#add(lineBeginning("server", "out", this.#now()) + aboutKnown(call) + link, text);
      },
      received: (bytes, call) => {
        if (!this.#wants(serverId)) return;
        this.#add(lineBeginning("server", "in", this.#now()) + aboutKnown(call) + link, bytes);
      },
    };
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

  /**
   * Adds a line. `head`: its members before the message. `raw`: the message, or the part of it that
   * decides its size. Bytes come from a server and may not be JSON.
   */
  #add(head: string, raw: Raw, toMessage?: (text: string) => string): void {
    if (raw.length > MAX_MESSAGE_BYTES || !this.#running!.settings.bodies) {
      this.#put(`${head},"bytes":${Buffer.byteLength(raw)}}\n`, false);
      return;
    }
    const text = raw.toString();
    const message = toMessage ? toMessage(text) : text;
    // The part around it has no line breaks. A search would have to put both together.
    const line = text.includes("\n") || text.includes("\r") ? lineEnding(message) : `${FRAME}${message}}\n`;
    this.#put(head + line, !toMessage && typeof raw !== "string");
  }

  #put(line: string, isUnread: boolean): void {
    this.#running!.put(line, isUnread);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      this.#running?.send();
    }, BATCH_MS).unref();
  }
}

const knownClients = new WeakMap<Client, string>();

function aboutCall({ requestId, method, client }: Call): string {
  let about = knownClients.get(client);
  if (about === undefined) {
    about = aboutClient(client);
    // Without a session, each request has its own.
    if (client.hasSession) knownClients.set(client, about);
  }
  return `,"call":"${requestId}","method":${cutJson(method)}${about}`;
}

function aboutClient({ info, who, hasSession, key }: Client): string {
  return (
    (who.name === "" ? "" : `,"who":${cutJson(who.name)}`) +
    (typeof info.name === "string" ? `,"client":${cutJson(info.name)}` : "") +
    (hasSession ? `,"session":${cutJson(key.slice(0, 8))}` : "")
  );
}

function aboutKnown(call: Call | undefined): string {
  if (!call) return "";
  return call.witness instanceof CallTrail ? call.witness.about : aboutCall(call);
}

function aboutServer(serverId: string | undefined): string {
  return serverId === undefined ? "" : `,"server":${cutJson(serverId)}`;
}

function cutJson(name: string): string {
  return JSON.stringify(name.length > MAX_NAME_LENGTH ? name.slice(0, MAX_NAME_LENGTH) : name);
}

function microseconds(ms: number): number {
  return Math.floor(ms * 1000);
}

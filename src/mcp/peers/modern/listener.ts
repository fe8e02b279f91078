/**
 * Keeps one `subscriptions/listen` stream open to a server, for list changes, subscribed resources
 * and tasks.
 *
 * To change the set, the listener opens a new stream. It closes the old one only when the new one
 * is acknowledged, so no notification is lost. A stream that ends is reopened with backoff. Changes
 * may have been lost meanwhile, so everything the stream covered is then reported as changed.
 */

import { recordOf } from "../../../lib/structures/record.ts";
import { backoffMs } from "../../../lib/timing/backoff.ts";
import { SUBSCRIPTION_ID } from "../../protocol/envelope.ts";
import { GoblinError } from "../../protocol/errors.ts";
import { type Answer, failure } from "../../protocol/json-rpc.ts";
import { allChangeKinds, type ChangeKind, changeFilters } from "../../protocol/methods.ts";

export interface ListenerOptions {
  /** Sends the listen request. The answer arrives when the server ends the stream gracefully. */
  readonly start: (params: string) => { readonly id: number; readonly answer: Promise<Answer> };
  readonly stop: (id: number) => void;
  readonly missed: (kinds: readonly ChangeKind[], uris: readonly string[]) => void;
}

/** The filters that name what they are about. */
export type Topic = "resourceSubscriptions" | "taskIds";
type Honoured = Readonly<Record<Topic, ReadonlySet<string>>>;

interface Stream {
  readonly id: number;
  readonly uris: ReadonlySet<string>;
  readonly waiting: ((honoured: Honoured) => void)[];
  acknowledged: boolean;
}

const WORTH_MS = 5000;

const OK: Answer = { ok: true, raw: "{}" };
const NOTHING: Honoured = { resourceSubscriptions: new Set(), taskIds: new Set() };

export class Listener {
  readonly #options: ListenerOptions;
  readonly #wanted: Readonly<Record<Topic, Set<string>>> = { resourceSubscriptions: new Set(), taskIds: new Set() };
  #kinds: ChangeKind[] = [];
  #current: Stream | undefined;
  #next: Stream | undefined;
  #attempt = 0;
  #acknowledgedAt = 0;
  /** URIs of broken streams. Their changes may be lost until a new stream is acknowledged. */
  #gap: Set<string> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #changing: Promise<unknown> = Promise.resolve();

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** The number of open streams. */
  get streams(): number {
    return (this.#current ? 1 : 0) + (this.#next ? 1 : 0);
  }

  begin(capabilities: Readonly<Record<string, unknown>>): void {
    this.#kinds = allChangeKinds.filter((kind) => {
      const declared = capabilities[kind] as { listChanged?: unknown } | undefined;
      return declared?.listChanged === true;
    });
    if (this.#kinds.length > 0) void this.#open();
  }

  add(topic: Topic, name: string): Promise<Answer> {
    return this.#step(async () => {
      this.#wanted[topic].add(name);
      const honoured = await this.#open();
      if (honoured[topic].has(name)) return OK;
      this.#wanted[topic].delete(name);
      return failure(new GoblinError("BACKEND_ERROR", `The server does not honour a subscription to ${name}`));
    });
  }

  remove(topic: Topic, name: string): Promise<Answer> {
    return this.#step(async () => {
      if (!this.#wanted[topic].delete(name)) return OK;
      if (this.#isWanted) await this.#open();
      else if (this.#current) this.#end(this.#current);
      return OK;
    });
  }

  /** Handles the acknowledgement of a stream. Returns false if the message is not one. */
  acknowledged(id: number, method: string, params: Readonly<Record<string, unknown>>): boolean {
    const stream = this.#next?.id === id ? this.#next : undefined;
    if (method !== "notifications/subscriptions/acknowledged" || !stream) return false;
    const honoured = honouredIn(params["notifications"]);
    stream.acknowledged = true;
    this.#acknowledgedAt = performance.now();
    const before = this.#current;
    this.#current = stream;
    this.#next = undefined;
    if (before) this.#options.stop(before.id);
    for (const resolve of stream.waiting.splice(0)) resolve(honoured);
    this.#reportGap();
    return true;
  }

  #reportGap(): void {
    const gap = this.#gap;
    if (!gap) return;
    this.#gap = undefined;
    this.#options.missed(
      this.#kinds,
      [...gap].filter((uri) => this.#wanted.resourceSubscriptions.has(uri)),
    );
  }

  /** Returns the stream that a message on a shared channel names in its `_meta`. */
  streamOf(params: Readonly<Record<string, unknown>>): number | undefined {
    const id = (params["_meta"] as Record<string, unknown> | undefined)?.[SUBSCRIPTION_ID];
    return typeof id === "number" ? id : undefined;
  }

  /**
   * Handles the end of a stream, which is the answer to its request, and schedules its reopening.
   */
  #ended(id: number): void {
    const stream = [this.#current, this.#next].find((candidate) => candidate?.id === id);
    if (!stream) return;
    if (this.#current === stream) {
      this.#current = undefined;
      this.#gap = new Set([...(this.#gap ?? []), ...stream.uris]);
    }
    if (this.#next === stream) this.#next = undefined;
    for (const resolve of stream.waiting.splice(0)) resolve(NOTHING);
    // Do not reset the backoff for a stream that ends right after its acknowledgement.
    if (stream.acknowledged && performance.now() - this.#acknowledgedAt >= WORTH_MS) this.#attempt = 0;
    if (!this.#closed) this.#reopenLater();
  }

  /** Whether the request is one of the streams. */
  owns(id: number): boolean {
    return this.#current?.id === id || this.#next?.id === id;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const stream of [this.#current, this.#next])
      for (const resolve of stream?.waiting.splice(0) ?? []) resolve(NOTHING);
    this.#current = this.#next = undefined;
  }

  get #isWanted(): boolean {
    const { resourceSubscriptions, taskIds } = this.#wanted;
    return resourceSubscriptions.size + taskIds.size + this.#kinds.length > 0;
  }

  /** Opens a stream for the current set. Resolves with what the server honours. */
  #open(): Promise<Honoured> {
    if (this.#closed) return Promise.resolve(NOTHING);
    if (this.#next) this.#end(this.#next);
    const notifications: Record<string, unknown> = {};
    for (const kind of this.#kinds) notifications[changeFilters[kind]] = true;
    for (const [topic, names] of Object.entries(this.#wanted)) if (names.size > 0) notifications[topic] = [...names];
    const { id, answer } = this.#options.start(JSON.stringify({ notifications }));
    void answer.then(() => this.#ended(id));
    return new Promise((resolve) => {
      const uris = new Set(this.#wanted.resourceSubscriptions);
      this.#next = { id, uris, waiting: [resolve], acknowledged: false };
    });
  }

  #end(stream: Stream): void {
    if (this.#current === stream) this.#current = undefined;
    if (this.#next === stream) this.#next = undefined;
    for (const resolve of stream.waiting.splice(0)) resolve(NOTHING);
    this.#options.stop(stream.id);
  }

  #reopenLater(): void {
    if (this.#timer || this.#next || !this.#isWanted) return;
    this.#timer = setTimeout(
      async () => {
        this.#timer = undefined;
        await this.#step(async () => {
          if (this.#current || this.#next) return OK;
          await this.#open();
          return OK;
        });
      },
      backoffMs(this.#attempt++),
    ).unref();
  }

  #step(step: () => Promise<Answer>): Promise<Answer> {
    const run = this.#changing.then(step, step);
    this.#changing = run;
    return run;
  }
}

function honouredIn(notifications: unknown): Honoured {
  const { resourceSubscriptions, taskIds } = recordOf(notifications);
  return { resourceSubscriptions: namesIn(resourceSubscriptions), taskIds: namesIn(taskIds) };
}

function namesIn(value: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(value) ? value.map(String) : []);
}

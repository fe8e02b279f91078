/**
 * Sends spans and metrics to a collector: OTLP over HTTP, as JSON.
 *
 * Written here because the official exporter for Node 20 brings five packages, and newer ones need
 * Node 22. Invariant: the collector can be slow, wrong or gone without any effect on calls. The
 * queue is bounded, one request of each signal is under way at a time, and what does not fit is
 * dropped and counted.
 */

import { Destination, isTaken, TOO_LARGE } from "./destination.ts";
import type { OtelSettings } from "./settings.ts";
import type { Signal } from "./signal.ts";
import type { Span } from "./span.ts";

export interface ExporterState {
  readonly url: string;
  /** Undefined: it works again. */
  readonly problem: string | undefined;
  /** The spans that were dropped until it worked again. */
  readonly droppedSpans: number;
}

export interface ExporterOptions {
  readonly settings: OtelSettings;
  readonly version: string;
  /** Told once for each signal when exporting begins to fail, and once when it works again. */
  readonly onState: (state: ExporterState) => void;
}

export class Exporter {
  readonly #options: ExporterOptions;
  readonly #traces: Destination | undefined;
  readonly #metrics: Destination | undefined;
  /** Smaller than in the settings where the collector took no more at once. */
  #batchSize: number;
  #queue: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #sendingMetrics: Promise<void> | undefined;
  /** Spans that did not fit into the queue, or that the collector did not take. */
  #dropped = 0;
  #closing: Promise<void> | undefined;

  constructor(options: ExporterOptions) {
    this.#options = options;
    const { traces, metrics, batchSize } = options.settings;
    this.#traces = traces && this.#destination(traces);
    this.#metrics = metrics && this.#destination(metrics);
    this.#batchSize = batchSize;
  }

  #destination(signal: Signal): Destination {
    const onState = (problem: string | undefined): void => {
      const isEndOfLoss = problem === undefined && signal === this.#options.settings.traces;
      this.#options.onState({ url: signal.url, problem, droppedSpans: isEndOfLoss ? this.#dropped : 0 });
      if (isEndOfLoss) this.#dropped = 0;
    };
    return new Destination({ signal, onState });
  }

  add(span: Span): void {
    const { queueSize, delayMs } = this.#options.settings;
    if (this.#queue.length >= queueSize || this.#closing) {
      this.#dropped++;
      return;
    }
    this.#queue.push(span);
    if (this.#queue.length >= this.#batchSize) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), delayMs).unref();
  }

  /** Sends everything that is queued. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#queue.length === 0) return this.#sending ?? Promise.resolve();
    this.#sending ??= this.#sendQueue();
    return this.#sending;
  }

  async #sendQueue(): Promise<void> {
    const traces = this.#traces;
    while (traces && !traces.isClosed && this.#queue.length > 0) {
      const batch = this.#queue.slice(0, this.#batchSize);
      this.#queue = this.#queue.slice(batch.length);
      const scopeSpans = [{ scope: this.#scope(), spans: batch }];
      const status = await traces.post({ resourceSpans: [{ resource: this.#resource(), scopeSpans }] });
      if (status === TOO_LARGE && batch.length > 1) {
        this.#batchSize = Math.ceil(batch.length / 2);
        this.#queue = [...batch, ...this.#queue];
        continue;
      }
      if (!isTaken(status)) this.#dropped += batch.length;
      this.#judge(traces, status);
    }
    this.#sending = undefined;
  }

  /** Sends nothing while the collector is busy with the last ones: the next ones contain these. */
  sendMetrics(metrics: readonly object[]): Promise<void> {
    if (metrics.length > 0) this.#sendingMetrics ??= this.#postMetrics(metrics);
    return this.#sendingMetrics ?? Promise.resolve();
  }

  async #postMetrics(metrics: readonly object[]): Promise<void> {
    if (this.#metrics) {
      const scopeMetrics = [{ scope: this.#scope(), metrics }];
      const status = await this.#metrics.post({ resourceMetrics: [{ resource: this.#resource(), scopeMetrics }] });
      this.#judge(this.#metrics, status);
    }
    this.#sendingMetrics = undefined;
  }

  /** Sends the last data, as far as the collector takes it within this time. Never rejects. */
  close(metrics: readonly object[], ms: number): Promise<void> {
    this.#closing ??= this.#close(metrics, ms);
    return this.#closing;
  }

  async #close(metrics: readonly object[], ms: number): Promise<void> {
    const stop = (): void => {
      this.#traces?.close();
      this.#metrics?.close();
    };
    const late = setTimeout(stop, ms);
    const sendLast = async (): Promise<void> => {
      await this.#sendingMetrics;
      await this.sendMetrics(metrics);
    };
    await Promise.all([this.flush(), sendLast()]);
    clearTimeout(late);
    stop();
    this.#queue = [];
  }

  #judge(destination: Destination, status: number): void {
    if (isTaken(status)) destination.report(undefined);
    else if (status !== 0) destination.report(`the collector answered ${status}`);
  }

  #scope() {
    return { name: "goblin", version: this.#options.version };
  }

  #resource() {
    const { resource } = this.#options.settings;
    return { attributes: Object.entries(resource).map(([key, value]) => ({ key, value: { stringValue: value } })) };
  }
}

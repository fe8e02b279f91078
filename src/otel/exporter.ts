/**
 * Sends spans and metrics to a collector: OTLP over HTTP, as JSON.
 *
 * Written here because the official exporter for Node 20 brings five packages, and newer ones need
 * Node 22. Invariant: the collector can be slow, wrong or gone without any effect on calls. The
 * queue is bounded, one request is under way at a time, and what does not fit is dropped and
 * counted.
 */

import type { OtelSettings } from "./settings.ts";
import type { Signal } from "./signal.ts";
import type { Span } from "./span.ts";

export interface ExporterOptions {
  readonly settings: OtelSettings;
  readonly version: string;
  /**
   * Told once when exporting begins to fail, and once when it works again, with the number of spans
   * that were dropped meanwhile.
   */
  readonly onState: (problem: string | undefined, dropped: number) => void;
}

export class Exporter {
  readonly #options: ExporterOptions;
  #queue: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #problem: string | undefined;
  /** Spans that did not fit into the queue, or that the collector did not take. */
  #dropped = 0;

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  add(span: Span): void {
    const { queueSize, batchSize, delayMs } = this.#options.settings;
    if (this.#queue.length >= queueSize) {
      this.#dropped++;
      return;
    }
    this.#queue.push(span);
    if (this.#queue.length >= batchSize) void this.flush();
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
    const { settings, version } = this.#options;
    while (settings.traces !== undefined && this.#queue.length > 0) {
      const batch = this.#queue.slice(0, settings.batchSize);
      this.#queue = this.#queue.slice(settings.batchSize);
      const scopeSpans = [{ scope: { name: "goblin", version }, spans: batch }];
      const body = { resourceSpans: [{ resource: this.#resource(), scopeSpans }] };
      if (!(await this.#post(settings.traces, body))) this.#dropped += batch.length;
    }
    this.#sending = undefined;
  }

  async sendMetrics(metrics: readonly object[]): Promise<void> {
    const { settings, version } = this.#options;
    if (settings.metrics === undefined || metrics.length === 0) return;
    const scopeMetrics = [{ scope: { name: "goblin", version }, metrics }];
    await this.#post(settings.metrics, { resourceMetrics: [{ resource: this.#resource(), scopeMetrics }] });
  }

  async #post({ url, headers, timeoutMs }: Signal, body: object): Promise<boolean> {
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
        redirect: "error",
      });
      await response.body?.cancel();
      this.#report(response.ok ? undefined : `the collector answered ${response.status}`);
      return response.ok;
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      this.#report(cause instanceof Error ? cause.message : String(cause));
      return false;
    }
  }

  #report(problem: string | undefined): void {
    if ((problem === undefined) === (this.#problem === undefined)) return;
    this.#problem = problem;
    this.#options.onState(problem, this.#dropped);
    this.#dropped = 0;
  }

  #resource() {
    const { resource } = this.#options.settings;
    return { attributes: Object.entries(resource).map(([key, value]) => ({ key, value: { stringValue: value } })) };
  }
}

/**
 * Recent activity, for the API and the dashboard: the newest calls, totals, and figures per server,
 * tool and prompt.
 *
 * Memory is bounded: calls are in a ring buffer, and figures exist only for names that a server
 * offers, up to a cap. Listeners receive each call as it ends. Without listeners a call costs one
 * object.
 */

import { Ring } from "../../lib/structures/ring.ts";
import type { CallRecord } from "./call-record.ts";
import { bucketOf, Latency } from "./latency.ts";

export class Figures {
  readonly latency = new Latency();
  calls = 0;
  errors = 0;

  add(ms: number, failed: boolean, bucket: number): void {
    this.calls++;
    if (failed) this.errors++;
    this.latency.add(ms, bucket);
  }
}

const KEPT_CALLS = 1000;
const MAX_NAMES = 20_000;

export class Activity {
  readonly total = { calls: 0, errors: 0 };
  /** Figures since the last `takeRecent`. The history takes them once a second. */
  readonly recent = new Figures();
  inFlight = 0;
  readonly #calls = new Ring<CallRecord>(KEPT_CALLS);
  readonly #servers = new Map<string, Figures>();
  /** By method, then by name. */
  readonly #names = new Map<string, Map<string, Figures>>();
  readonly #listeners = new Set<(call: CallRecord) => void>();

  /** `entry`: the listed name of the tool or prompt that was called. */
  record(call: CallRecord, entry: string | undefined): void {
    const failed = call.outcome !== "ok" && call.outcome !== "cancelled";
    const bucket = bucketOf(call.ms);
    this.total.calls++;
    if (failed) this.total.errors++;
    this.recent.add(call.ms, failed, bucket);
    if (call.serverId !== null) figuresIn(this.#servers, call.serverId)?.add(call.ms, failed, bucket);
    if (entry !== undefined) figuresIn(this.#namesOf(call.method), entry)?.add(call.ms, failed, bucket);
    this.#calls.push(call);
    if (this.#listeners.size > 0) for (const listener of this.#listeners) listener(call);
  }

  calls(): CallRecord[] {
    return this.#calls.items();
  }

  ofServer(serverId: string): Figures | undefined {
    return this.#servers.get(serverId);
  }

  ofEntry(method: string, name: string): Figures | undefined {
    return this.#names.get(method)?.get(name);
  }

  onCall(listener: (call: CallRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #namesOf(method: string): Map<string, Figures> {
    const known = this.#names.get(method);
    if (known) return known;
    const made = new Map<string, Figures>();
    this.#names.set(method, made);
    return made;
  }

  /** Returns the recent figures and resets them. */
  takeRecent(): {
    readonly calls: number;
    readonly errors: number;
    readonly p50Ms: number | null;
    readonly p99Ms: number | null;
  } {
    const { recent } = this;
    const { calls, errors, latency } = recent;
    const taken = { calls, errors, p50Ms: latency.quantile(0.5), p99Ms: latency.quantile(0.99) };
    recent.calls = recent.errors = 0;
    latency.reset();
    return taken;
  }
}

function figuresIn(map: Map<string, Figures>, key: string): Figures | undefined {
  const known = map.get(key);
  if (known || map.size >= MAX_NAMES) return known;
  const figures = new Figures();
  map.set(key, figures);
  return figures;
}

/**
 * The counters of the hot path: plain numbers, one object per server and method. A call looks up
 * its object once. `metrics.ts` reads them; nothing here knows Prometheus. `labels.ts` bounds the
 * label values.
 */
import type { Outcome } from "../protocol/outcomes.ts";
import { Latency } from "./latency.ts";

/** The counters for one method of one server. */
export class Meter {
  readonly serverId: string;
  readonly method: string;
  readonly latency = new Latency();
  readonly ended: Record<Outcome, number> = {
    ok: 0,
    "tool-error": 0,
    error: 0,
    timeout: 0,
    cancelled: 0,
    unavailable: 0,
  };
  readonly errors = new Map<string, number>();
  inFlight = 0;

  constructor(serverId: string, method: string) {
    this.serverId = serverId;
    this.method = method;
  }

  end(outcome: Outcome, ms: number, code?: string | undefined): void {
    this.ended[outcome]++;
    this.latency.add(ms);
    if (code !== undefined) this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
  }
}

export interface ReadCount {
  readonly serverId: string;
  readonly mimeType: string;
  readonly status: "success" | "failure";
  count: number;
}

export class Meters {
  readonly #byServer = new Map<string, Map<string, Meter>>();
  readonly #reads = new Map<string, ReadCount>();
  readonly #syncs = new Map<string, Latency>();
  #auditLinesLost = 0;

  meter(serverId: string, method: string): Meter {
    const known = this.#byServer.get(serverId)?.get(method);
    if (known) return known;
    const ofServer = this.#byServer.get(serverId) ?? new Map<string, Meter>();
    const meter = new Meter(serverId, method);
    this.#byServer.set(serverId, ofServer.set(method, meter));
    return meter;
  }

  countRead(serverId: string, mimeType: string, status: ReadCount["status"]): void {
    const key = `${serverId} ${mimeType} ${status}`;
    const read = this.#reads.get(key);
    if (read) read.count++;
    else this.#reads.set(key, { serverId, mimeType, status, count: 1 });
  }

  synced(serverId: string, ms: number): void {
    const latency = this.#syncs.get(serverId) ?? new Latency();
    this.#syncs.set(serverId, latency);
    latency.add(ms);
  }

  loseAuditLines(lines: number): void {
    this.#auditLinesLost += lines;
  }

  get auditLinesLost(): number {
    return this.#auditLinesLost;
  }

  *all(): Generator<Meter> {
    for (const ofServer of this.#byServer.values()) yield* ofServer.values();
  }

  reads(): Iterable<ReadCount> {
    return this.#reads.values();
  }

  syncs(): Iterable<[serverId: string, latency: Latency]> {
    return this.#syncs;
  }
}

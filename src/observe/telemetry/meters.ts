/**
 * The counters of the hot path: plain numbers, one object per server and method. A call looks up
 * its object once. `metrics.ts` reads them; nothing here knows Prometheus. `labels.ts` bounds the
 * label values.
 */
import type { Outcome } from "../../mcp/protocol/outcomes.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import { profileLabel, whoLabel } from "./labels.ts";
import { Latency } from "./latency.ts";

type Ended = Record<Outcome, number>;
const noneEnded = (): Ended => ({ ok: 0, "tool-error": 0, error: 0, timeout: 0, cancelled: 0, unavailable: 0 });

/** How a request failed. Both are bounded. */
export interface Failure {
  /** Of an error. */
  readonly code: string | undefined;
  /** `error.type` of the semantic conventions. */
  readonly type: string;
}

/** The counters for one method of one server. */
export class Meter {
  readonly serverId: string;
  readonly method: string;
  readonly latency = new Latency();
  readonly ended = noneEnded();
  readonly errors = new Map<string, number>();
  /** The part of `latency` that failed, by `error.type` of the semantic conventions. */
  readonly failed = new Map<string, Latency>();
  /** How long the server took, of the requests that it got; and the part that failed. */
  readonly asked = new Latency();
  readonly askedFailed = new Map<string, Latency>();
  inFlight = 0;

  constructor(serverId: string, method: string) {
    this.serverId = serverId;
    this.method = method;
  }

  end(outcome: Outcome, ms: number, failure?: Failure): void {
    this.ended[outcome]++;
    this.latency.add(ms);
    if (failure === undefined) return;
    const { code, type } = failure;
    if (code !== undefined) this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
    latencyIn(this.failed, type).add(ms);
  }

  /** The server answered within this time, or not at all. */
  ask(ms: number, failure: Failure | undefined): void {
    this.asked.add(ms);
    if (failure) latencyIn(this.askedFailed, failure.type).add(ms);
  }
}

/** The counters for requests of one kind of sender. */
export interface CallerCount {
  readonly who: string;
  readonly profile: string;
  readonly ended: Ended;
}

export interface ReadCount {
  readonly serverId: string;
  readonly mimeType: string;
  readonly status: "success" | "failure";
  count: number;
}

/** Results that were kept, cut, refused or shaped. */
export interface ResultCount {
  readonly serverId: string;
  readonly fate: string;
  count: number;
}

/** Keys and tokens that were masked. */
export interface MaskedCount {
  readonly serverId: string;
  readonly side: string;
  readonly format: string;
  count: number;
}

export class Meters {
  readonly #byServer = new Map<string, Map<string, Meter>>();
  readonly #reads = new Map<string, ReadCount>();
  readonly #syncs = new Map<string, Latency>();
  readonly #callers = new Map<string, CallerCount>();
  /** A principal's requests mostly come to one profile. */
  readonly #lastOf = new WeakMap<Principal, { readonly profile: string | undefined; readonly count: CallerCount }>();
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

  /** Counts an answered request for who sent it, to which profile. */
  countCaller(who: Principal, profile: string | undefined, outcome: Outcome): void {
    let last = this.#lastOf.get(who);
    if (!last || last.profile !== profile) {
      last = { profile, count: this.#caller(whoLabel(who), profileLabel(profile)) };
      this.#lastOf.set(who, last);
    }
    last.count.ended[outcome]++;
  }

  #caller(who: string, profile: string): CallerCount {
    const key = JSON.stringify([who, profile]);
    const count = this.#callers.get(key) ?? { who, profile, ended: noneEnded() };
    this.#callers.set(key, count);
    return count;
  }

  synced(serverId: string, ms: number): void {
    latencyIn(this.#syncs, serverId).add(ms);
  }

  loseAuditLines(lines: number): void {
    this.#auditLinesLost += lines;
  }

  get auditLinesLost(): number {
    return this.#auditLinesLost;
  }

  readonly #results = new Map<string, ResultCount>();

  /** Counts a result that did not pass as it was. */
  countResult(serverId: string, fate: string): void {
    const key = `${serverId} ${fate}`;
    const known = this.#results.get(key);
    if (known) known.count++;
    else this.#results.set(key, { serverId, fate, count: 1 });
  }

  results(): Iterable<ResultCount> {
    return this.#results.values();
  }

  readonly #masked = new Map<string, MaskedCount>();

  /** Counts keys and tokens that were masked. */
  countMasked(of: Omit<MaskedCount, "count">, count: number): void {
    const key = JSON.stringify([of.serverId, of.side, of.format]);
    const known = this.#masked.get(key) ?? { ...of, count: 0 };
    known.count += count;
    this.#masked.set(key, known);
  }

  masked(): Iterable<MaskedCount> {
    return this.#masked.values();
  }

  /** Frames of the recording that were written, and frames that were lost. */
  readonly frames = { recorded: 0, lost: 0 };

  countFrames(recorded: number, lost: number): void {
    this.frames.recorded += recorded;
    this.frames.lost += lost;
  }

  *all(): Generator<Meter> {
    for (const ofServer of this.#byServer.values()) yield* ofServer.values();
  }

  callers(): Iterable<CallerCount> {
    return this.#callers.values();
  }

  reads(): Iterable<ReadCount> {
    return this.#reads.values();
  }

  syncs(): Iterable<[serverId: string, latency: Latency]> {
    return this.#syncs;
  }
}

function latencyIn(map: Map<string, Latency>, key: string): Latency {
  const known = map.get(key);
  if (known) return known;
  const made = new Latency();
  map.set(key, made);
  return made;
}

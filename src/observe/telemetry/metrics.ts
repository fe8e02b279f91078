/**
 * Serves `/metrics` in the Prometheus text format. This is the only file that knows prom-client.
 *
 * It keeps no values: every metric reads the meters or the gateway's state at scrape time. So a
 * number never disagrees with its source, and a call pays only for an addition. `docs/metrics.md`
 * lists the metrics; a test compares. The first scrape loads this file, so a gateway that is never
 * scraped does not load prom-client.
 */
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricType,
  type MetricValue,
  type MetricValueWithName,
  Registry,
} from "prom-client";
import { outcomes } from "../../mcp/protocol/outcomes.ts";
import { serverStates } from "../../mcp/protocol/server-states.ts";
import { askedDurations, type Labels, servedDurations } from "./conventional-durations.ts";
import { GATEWAY, NO_SERVER } from "./labels.ts";
import { conventionalBoundsMs, exposedBoundsMs, type Latency } from "./latency.ts";
import type { LimitMeter } from "./limit-meter.ts";
import type { Meters } from "./meters.ts";
import { type MetricNames, withNames } from "./metric-names.ts";

/** The server labels of requests that no server answered. */
const OWN_SERIES: ReadonlySet<unknown> = new Set([GATEWAY, NO_SERVER]);

export interface BackendReading {
  readonly serverId: string;
  readonly state: string;
  readonly restarts: number;
  readonly inFlight: number;
  readonly queued: number;
  readonly entries: Readonly<Record<string, number>>;
}

/** The config reloads since the start. */
export interface ReloadReading {
  readonly applied: number;
  readonly refused: number;
  /** Defined while the last reload was refused. */
  readonly refusal: object | undefined;
}

/** The sources that each scrape reads. */
export interface MetricSources {
  readonly version: string;
  readonly meters: Meters;
  readonly limits: LimitMeter;
  readonly sessions: { readonly size: number };
  readonly subscriptions: { readonly size: number };
  readonly backends: { read(): readonly BackendReading[] };
  readonly reloads: ReloadReading;
}

export interface Metrics {
  readonly contentType: string;
  /** Returns the page. */
  text(options?: PageOptions): Promise<string>;
}

export interface PageOptions {
  /** Which of a metric's two names the page has; undefined: both. */
  readonly names?: MetricNames | undefined;
  /** Limits the page to these servers, without the names of callers. Undefined: no limit. */
  readonly showsServer?: ((serverId: string) => boolean) | undefined;
}

type Families = MetricObjectWithValues<MetricValue<string>>[];

interface Family<Label extends string> {
  readonly help: string;
  readonly labels?: readonly Label[];
}

/** Gives each value of a family, with its labels. */
type Read<Label extends string> = (give: (labels: Record<Label, string>, value: number) => void) => void;

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const { meters } = sources;
  const gauge = <Label extends string>(name: string, { help, labels = [] }: Family<Label>, read: Read<Label>): void => {
    const made: Gauge<Label> = new Gauge({
      name,
      help,
      labelNames: labels,
      registers,
      collect() {
        made.reset();
        read((values, value) => made.set(values, value));
      },
    });
  };
  const counter = <Label extends string>(
    name: string,
    { help, labels = [] }: Family<Label>,
    read: Read<Label>,
  ): void => {
    const made: Counter<Label> = new Counter({
      name,
      help,
      labelNames: labels,
      registers,
      collect() {
        made.reset();
        read((values, value) => made.inc(values, value));
      },
    });
  };

  counter(
    "mcpRequestsTotal",
    { help: "Requests that were answered", labels: ["serverId", "method", "outcome"] },
    (add) => {
      for (const { serverId, method, ended } of meters.all()) {
        for (const outcome of outcomes) if (ended[outcome] > 0) add({ serverId, method, outcome }, ended[outcome]);
      }
    },
  );
  counter(
    "mcpRequestErrorsTotal",
    { help: "Requests that were answered with an error", labels: ["serverId", "method", "code"] },
    (add) => {
      for (const { serverId, method, errors } of meters.all()) {
        for (const [code, count] of errors) add({ serverId, method, code }, count);
      }
    },
  );
  counter(
    "mcpCallerRequestsTotal",
    { help: "Requests that were answered, by who sent them", labels: ["who", "profile", "outcome"] },
    (add) => {
      for (const { who, profile, ended } of meters.callers()) {
        for (const outcome of outcomes) if (ended[outcome] > 0) add({ who, profile, outcome }, ended[outcome]);
      }
    },
  );
  gauge(
    "mcpRequestsInFlight",
    { help: "Requests that wait for their answer", labels: ["serverId", "method"] },
    (set) => {
      for (const { serverId, method, inFlight } of meters.all()) set({ serverId, method }, inFlight);
    },
  );
  counter(
    "mcpResourceReadsTotal",
    { help: "Resources that were read", labels: ["serverId", "mimeType", "status"] },
    (add) => {
      for (const { serverId, mimeType, status, count } of meters.reads()) add({ serverId, mimeType, status }, count);
    },
  );
  counter(
    "mcpResultsTotal",
    { help: "Results that did not pass as they were", labels: ["serverId", "fate"] },
    (add) => {
      for (const { serverId, fate, count } of meters.results()) add({ serverId, fate }, count);
    },
  );
  counter(
    "mcpMaskedTotal",
    { help: "Keys and tokens that were masked", labels: ["serverId", "side", "format"] },
    (add) => {
      for (const { serverId, side, format, count } of meters.masked()) add({ serverId, side, format }, count);
    },
  );
  const requests = { name: "mcpRequestDurationSeconds", help: "Time from a request to its answer", registers };
  new LatencyHistogram(requests, function* () {
    for (const { serverId, method, latency } of meters.all()) yield [{ serverId, method }, latency];
  });
  const convention = { registers, bounds: conventionalBoundsMs };
  const served = { name: "mcp_server_operation_duration_seconds", help: "Time from a request to its answer" };
  new LatencyHistogram({ ...served, ...convention }, () => servedDurations(meters));
  const asked = { name: "mcp_client_operation_duration_seconds", help: "Time that a server took to answer" };
  new LatencyHistogram({ ...asked, ...convention }, () => askedDurations(meters));
  const syncs = { name: "mcpSyncDurationSeconds", help: "Time to fetch a server's lists", registers };
  new LatencyHistogram(syncs, function* () {
    for (const [serverId, latency] of meters.syncs()) yield [{ serverId }, latency];
  });
  counter("mcpLimitsExceededTotal", { help: "How often a configured limit was exceeded", labels: ["limit"] }, (add) => {
    for (const [limit, times] of sources.limits.counts()) add({ limit }, times);
  });
  counter("mcpAuditLinesLostTotal", { help: "Lines of the audit log that could not be written" }, (add) =>
    add({}, meters.auditLinesLost),
  );
  counter("mcpRecordedFramesTotal", { help: "Frames that were recorded" }, (add) => add({}, meters.frames.recorded));
  counter("mcpRecordedFramesLostTotal", { help: "Frames that could not be recorded" }, (add) =>
    add({}, meters.frames.lost),
  );
  gauge("mcpActiveSubscriptions", { help: "Resource subscriptions that clients hold" }, (set) =>
    set({}, sources.subscriptions.size),
  );
  gauge("mcpSessions", { help: "Client sessions that are open" }, (set) => set({}, sources.sessions.size));
  gauge(
    "mcpBackendState",
    { help: "1 for the state that a server is in, 0 for the others", labels: ["serverId", "state"] },
    (set) => {
      for (const { serverId, state } of sources.backends.read()) {
        for (const one of serverStates) set({ serverId, state: one }, one === state ? 1 : 0);
      }
    },
  );
  counter(
    "mcpBackendReconnectsTotal",
    { help: "How often a server's connection was lost or restarted", labels: ["serverId"] },
    (add) => {
      for (const { serverId, restarts } of sources.backends.read()) add({ serverId }, restarts);
    },
  );
  gauge("mcpBackendInFlight", { help: "Requests under way at a server", labels: ["serverId"] }, (set) => {
    for (const { serverId, inFlight } of sources.backends.read()) set({ serverId }, inFlight);
  });
  gauge(
    "mcpBackendQueueLength",
    { help: "Requests that wait for a place at a server", labels: ["serverId"] },
    (set) => {
      for (const { serverId, queued } of sources.backends.read()) set({ serverId }, queued);
    },
  );
  const entries = { help: "What a server offers, by kind", labels: ["serverId", "kind"] } as const;
  gauge("mcpCatalogEntries", entries, (set) => {
    for (const { serverId, entries } of sources.backends.read()) {
      for (const [kind, count] of Object.entries(entries)) set({ serverId, kind }, count);
    }
  });
  counter(
    "mcpConfigReloadsTotal",
    { help: "How often the config was read again, by whether it was applied", labels: ["outcome"] },
    (add) => {
      add({ outcome: "ok" }, sources.reloads.applied);
      add({ outcome: "failed" }, sources.reloads.refused);
    },
  );
  gauge(
    "mcpConfigLastReloadOk",
    { help: "1 while the config in use is the one in the file, 0 while an edit is refused" },
    (set) => set({}, sources.reloads.refusal ? 0 : 1),
  );
  gauge("mcpBuildInfo", { help: "Always 1; the version is a label", labels: ["version"] }, (set) =>
    set({ version: sources.version }, 1),
  );

  const families = async (): Promise<Families> => [
    ...(await registry.getMetricsAsJSON()),
    ...(await processMetrics().getMetricsAsJSON()),
  ];
  return {
    contentType: registry.contentType,
    async text({ names, showsServer } = {}) {
      const page = showsServer
        ? await AggregatorRegistry.aggregate([limitFamilies(await families(), showsServer)]).metrics()
        : `${await registry.metrics()}\n${await processMetrics().metrics()}`;
      // prom-client spells it as Prometheus does not: its event-loop lag is not a number at first.
      return withNames(page.replace(/ Nan$/gm, " NaN"), names);
    },
  };
}

/** Leaves out the series of other servers, and all that name a caller. */
function limitFamilies(families: Families, showsServer: (serverId: string) => boolean): Families {
  const isShown = ({ labels }: MetricValue<string>): boolean => {
    const serverId = labels["serverId"] ?? labels["goblin_server_id"] ?? NO_SERVER;
    return labels["who"] === undefined && (OWN_SERIES.has(serverId) || showsServer(String(serverId)));
  };
  return families.map((family) => ({ ...family, values: family.values.filter(isShown) }));
}

let ofProcess: Registry | undefined;

/**
 * Metrics of the process (CPU, memory, event-loop lag, garbage collection), shared by all its
 * gateways.
 */
function processMetrics(): Registry {
  if (!ofProcess) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly registers: Registry[];
  /** In milliseconds. */
  readonly bounds?: readonly number[];
}

/** A histogram whose buckets the meters keep. */
class LatencyHistogram extends Histogram<string> {
  readonly #family: { readonly name: string; readonly help: string; readonly type: MetricType };
  readonly #read: () => Iterable<[Labels, Latency]>;
  readonly #bounds: readonly number[];

  constructor(options: HistogramOptions, read: () => Iterable<[Labels, Latency]>) {
    const { name, help, registers, bounds = exposedBoundsMs } = options;
    super({ name, help, registers });
    this.#bounds = bounds;
    // The package declares an enum that it does not have; its values are these words.
    this.#family = { name: options.name, help: options.help, type: "histogram" as unknown as MetricType };
    this.#read = read;
  }

  /** The registry calls this when it writes the page. The package's types omit it. */
  getForPromString() {
    return this.get();
  }

  override async get() {
    const { name } = this.#family;
    const values: MetricValueWithName<string>[] = [];
    for (const [labels, latency] of this.#read()) {
      const bucket = (le: number | string, value: number) =>
        values.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value });
      latency.cumulative(this.#bounds).forEach((value, i) => {
        bucket(this.#bounds[i]! / 1000, value);
      });
      bucket("+Inf", latency.count);
      values.push({ metricName: `${name}_sum`, labels, value: latency.sumMs / 1000 });
      values.push({ metricName: `${name}_count`, labels, value: latency.count });
    }
    return { ...this.#family, aggregator: "sum" as const, values, collect() {} };
  }
}

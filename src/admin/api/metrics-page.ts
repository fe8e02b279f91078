/**
 * Renders `/metrics` from the gateway's parts. The first scrape loads the metrics package, so a
 * gateway that is never scraped does not pay for it.
 */

import type { ReloadHistory } from "../../config/reload-history.ts";
import { version } from "../../lib/package/version.ts";
import { lazy } from "../../lib/structures/lazy.ts";
import type { LimitMeter } from "../../observe/telemetry/limit-meter.ts";
import type { Meters } from "../../observe/telemetry/meters.ts";
import type { BackendReading, Metrics } from "../../observe/telemetry/metrics.ts";
import type { Catalog } from "../../upstream/catalog/catalog.ts";
import type { Servers } from "../../upstream/servers/servers.ts";
import { noSizes, sizesOf } from "./sizes.ts";

export interface MetricsParts {
  readonly meters: Meters;
  readonly limits: LimitMeter;
  readonly reloads: ReloadHistory;
  readonly sessions: { readonly size: number };
  readonly subscriptions: { readonly size: number };
  readonly servers: Servers;
  readonly catalog: Catalog;
}

export class MetricsPage {
  readonly #parts: MetricsParts;
  readonly load: () => Promise<Metrics>;

  constructor(parts: MetricsParts) {
    this.#parts = parts;
    const sources = { ...parts, version, backends: { read: () => this.#readBackends() } };
    parts.servers.on("synced", (serverId, ms) => parts.meters.synced(serverId, ms));
    this.load = lazy(async () => (await import("../../observe/telemetry/metrics.ts")).createMetrics(sources));
  }

  #readBackends(): BackendReading[] {
    const { servers, catalog } = this.#parts;
    const sizes = sizesOf(catalog.snapshot).servers;
    return servers.ids().flatMap((serverId) => {
      const status = servers.status(serverId);
      if (!status) return [];
      const { tools, prompts, resources, templates } = sizes.get(serverId) ?? noSizes();
      const { state, restarts, inFlight, queued } = status;
      return { serverId, state, restarts, inFlight, queued, entries: { tools, prompts, resources, templates } };
    });
  }
}

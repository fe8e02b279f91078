/** What the metrics read of each server at a scrape. */
import type { Snapshot } from "../catalog/snapshot.ts";
import type { Servers } from "../servers/servers.ts";
import type { BackendReading } from "../telemetry/metrics.ts";
import { noSizes, sizesOf } from "./sizes.ts";

export function backendReadings(servers: Servers, snapshot: Snapshot): BackendReading[] {
  const sizes = sizesOf(snapshot).servers;
  return servers.ids().flatMap((serverId) => {
    const status = servers.status(serverId);
    if (!status) return [];
    const { tools, prompts, resources, templates } = sizes.get(serverId) ?? noSizes();
    const { state, restarts, inFlight, queued } = status;
    return { serverId, state, restarts, inFlight, queued, entries: { tools, prompts, resources, templates } };
  });
}

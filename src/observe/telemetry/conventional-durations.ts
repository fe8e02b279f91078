/**
 * Durations under the names of OpenTelemetry's semantic conventions for MCP, as Prometheus spells
 * them. Read from the meters at scrape time: what succeeded is what did not fail.
 */
import { Latency } from "./latency.ts";
import type { Meters } from "./meters.ts";

export type Labels = Readonly<Record<string, string>>;

/** Requests of clients to the gateway, by method and how they failed. */
export function servedDurations(meters: Meters): Iterable<[Labels, Latency]> {
  const found = new Map<string, [Labels, Latency]>();
  for (const { method, latency, failed } of meters.all()) {
    for (const [labels, part] of parts(latency, failed)) {
      const all = { mcp_method_name: method, ...labels };
      const key = JSON.stringify(all);
      const known = found.get(key);
      if (known) known[1].combine(part, 1);
      else found.set(key, [all, part]);
    }
  }
  return found.values();
}

/** Requests of the gateway to servers. */
export function* askedDurations(meters: Meters): Generator<[Labels, Latency]> {
  for (const { method, serverId, asked, askedFailed } of meters.all()) {
    for (const [labels, part] of parts(asked, askedFailed)) {
      yield [{ mcp_method_name: method, goblin_server_id: serverId, ...labels }, part];
    }
  }
}

/** Copies: the parts that failed, and the rest. Empty ones are left out. */
function parts(all: Latency, failed: ReadonlyMap<string, Latency>): [Labels, Latency][] {
  const rest = new Latency();
  rest.combine(all, 1);
  const found: [Labels, Latency][] = [];
  for (const [type, latency] of failed) {
    rest.combine(latency, -1);
    const copy = new Latency();
    copy.combine(latency, 1);
    found.push([{ error_type: type }, copy]);
  }
  return rest.count > 0 ? [[{}, rest], ...found] : found;
}

/**
 * How each server is doing, as the meta tools may tell it: nothing of its config but the kind of
 * its transport.
 */
import type { ServerHealth } from "../meta/define.ts";
import type { Servers } from "./servers.ts";

export function serverHealth(servers: Servers): ServerHealth[] {
  return servers.ids().flatMap((serverId) => {
    const status = servers.status(serverId);
    const config = servers.config(serverId);
    if (!status || !config) return [];
    const { kind } = config.transport;
    const { info, state, reason, since, restarts, inFlight, queued, retryAfterMs } = status;
    return [
      {
        serverId,
        state,
        reason,
        since,
        restarts,
        inFlight,
        queued,
        retryAfterMs,
        transport: kind === "auto" ? "http" : kind,
        protocolVersion: info?.protocolVersion,
        title: text(info?.serverInfo["title"]) ?? text(info?.serverInfo["name"]),
        version: text(info?.serverInfo["version"]),
      },
    ];
  });
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

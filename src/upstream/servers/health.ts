/**
 * The health of the gateway and of each server, for the meta tools. It never reveals a server's
 * config beyond the kind of transport.
 */
import type { ReloadHistory } from "../../config/reload-history.ts";
import { type ShownTransport, shownTransport } from "../../config/schema/server.ts";
import { version } from "../../lib/package/version.ts";
import type { ServerState } from "../../mcp/protocol/server-states.ts";
import type { Servers } from "./servers.ts";

export interface GatewayHealth {
  readonly version: string;
  readonly uptimeMs: number;
  /** Whether every server has connected or failed once. */
  readonly settled: boolean;
  /** Whether the config in use is the one in the file. */
  readonly configValid: boolean;
}

export interface ServerHealth {
  readonly serverId: string;
  readonly state: ServerState;
  readonly reason: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly restarts: number;
  readonly inFlight: number;
  readonly queued: number;
  readonly retryAfterMs: number | undefined;
  readonly transport: ShownTransport;
  readonly protocolVersion: string | undefined;
  readonly title: string | undefined;
  readonly version: string | undefined;
}

export class Health {
  readonly #servers: Servers;
  readonly #reloads: ReloadHistory;
  readonly #startedAt = Date.now();

  constructor(servers: Servers, reloads: ReloadHistory) {
    this.#servers = servers;
    this.#reloads = reloads;
  }

  gateway(): GatewayHealth {
    return {
      version,
      uptimeMs: Date.now() - this.#startedAt,
      settled: this.#servers.settled,
      configValid: this.#reloads.refusal === undefined,
    };
  }

  servers(): ServerHealth[] {
    return this.#servers.ids().flatMap((serverId) => {
      const status = this.#servers.status(serverId);
      const config = this.#servers.config(serverId);
      if (!status || !config) return [];
      const { info, state, reason, since, restarts, inFlight, queued, retryAfterMs } = status;
      return {
        serverId,
        state,
        reason,
        since,
        restarts,
        inFlight,
        queued,
        retryAfterMs,
        transport: shownTransport(config.transport),
        protocolVersion: info?.protocolVersion,
        title: text(info?.serverInfo["title"]) ?? text(info?.serverInfo["name"]),
        version: text(info?.serverInfo["version"]),
      };
    });
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

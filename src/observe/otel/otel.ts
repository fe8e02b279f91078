/**
 * OpenTelemetry as the gateway sees it: traces of calls, and durations as metrics.
 *
 * Nothing of it is made unless a collector is configured, so a gateway without one pays nothing.
 */
import type { LiveConfig } from "../../config/live-config.ts";
import type { ServerConfig } from "../../config/schema/server.ts";
import { version } from "../../lib/package/version.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Masker } from "../telemetry/masker.ts";
import { Exporter, type ExporterState } from "./exporter.ts";
import { type Attributes, routeTo } from "./network.ts";
import { Operations } from "./operations.ts";
import { type SessionSources, Sessions } from "./sessions.ts";
import { type OtelSettings, otelSettings } from "./settings.ts";
import { Tracing } from "./tracing.ts";

/** How long the last data may hold up the end of the gateway. */
const CLOSE_MS = 2000;

export interface OtelParts {
  readonly config: Pick<LiveConfig, "current">;
  readonly log: Logger;
  readonly masker: Masker;
  readonly servers: Described & SessionSources["servers"];
  readonly sessions: SessionSources["sessions"];
  /** The environment with the standard variables; by default that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The servers, as far as spans describe them. */
interface Described {
  config(serverId: string): Pick<ServerConfig, "transport"> | undefined;
  status(serverId: string): { readonly info: { readonly protocolVersion: string } | undefined } | undefined;
}

export interface Otel {
  readonly tracing: Tracing;
  /** Sends what is left, as far as the collector takes it soon. */
  close(): Promise<void>;
}

export function createOtel({ config, log, masker, servers, sessions, env = process.env }: OtelParts): Otel | undefined {
  const settings = otelSettings({
    config: config.current.otel,
    env,
    version,
    warn: (message) => log.warn(message),
  });
  if (!settings) return undefined;
  masker.hide(secretsOf(settings), "otel");
  const onState = ({ url, problem, droppedSpans }: ExporterState): void => {
    const endpoint = url.replace(/\?.*/, "");
    if (problem === undefined) log.info({ endpoint, droppedSpans }, "The OpenTelemetry collector takes data again");
    else log.warn({ endpoint, problem }, "The OpenTelemetry collector takes no data; calls go on");
  };
  const exporter = new Exporter({ settings, version, onState });
  const connection = (serverId: string): Attributes => ({
    "mcp.protocol.version": servers.status(serverId)?.info?.protocolVersion,
    ...routeTo(servers.config(serverId)?.transport),
  });
  const operations = settings.metrics && new Operations(connection);
  const lasting = settings.metrics && new Sessions({ sessions, servers, connection });
  const measured = (): object[] =>
    [operations, lasting]
      .flatMap((kind) => [kind?.served, kind?.asked])
      .flatMap((durations) => durations?.metric() ?? []);
  const timer = setInterval(() => void exporter.sendMetrics(measured()), settings.metricsMs).unref();
  const mask = (text: string): string => masker.text(text);
  const maskJson = (text: string): string => masker.text(masker.json(text));
  return {
    tracing: new Tracing({ settings, exporter, operations, mask, maskJson, connection }),
    close() {
      clearInterval(timer);
      lasting?.close();
      return exporter.close(measured(), CLOSE_MS);
    },
  };
}

/** `Bearer abc` is secret as a whole and without the scheme. Shorter values are ordinary words. */
function secretsOf({ traces, metrics }: OtelSettings): string[] {
  const values = [traces, metrics].flatMap((signal) => Object.values(signal?.headers ?? {}));
  return values.flatMap((value) => [value, value.slice(value.indexOf(" ") + 1)]).filter(({ length }) => length >= 6);
}

/**
 * OpenTelemetry as the gateway sees it: traces of calls, and durations as metrics.
 *
 * Nothing of it is made unless a collector is configured, so a gateway without one pays nothing.
 */
import type { LiveConfig } from "../config/live-config.ts";
import { methodLabel } from "../telemetry/labels.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Masker } from "../telemetry/masker.ts";
import { version } from "../version.ts";
import { Durations } from "./durations.ts";
import { Exporter, type ExporterState } from "./exporter.ts";
import { type OtelSettings, otelSettings } from "./settings.ts";
import { Tracing } from "./tracing.ts";

/** How long the last data may hold up the end of the gateway. */
const CLOSE_MS = 2000;

export interface OtelParts {
  readonly config: Pick<LiveConfig, "current">;
  readonly log: Logger;
  readonly masker: Masker;
  readonly servers: Versions;
  /** The environment with the standard variables; by default that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The servers, as far as spans describe them. */
interface Versions {
  status(serverId: string): { readonly info: { readonly protocolVersion: string } | undefined } | undefined;
}

export interface Otel {
  readonly tracing: Tracing;
  /** Sends what is left, as far as the collector takes it soon. */
  close(): Promise<void>;
}

export function createOtel({ config, log, masker, servers, env = process.env }: OtelParts): Otel | undefined {
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
  const served = new Durations("mcp.server.operation.duration");
  const asked = new Durations("mcp.client.operation.duration");
  const measured = (): object[] => [served, asked].flatMap((durations) => durations.metric() ?? []);
  const timer = setInterval(() => void exporter.sendMetrics(measured()), settings.metricsMs).unref();
  const connection = (serverId: string): Record<string, string | number | undefined> => {
    const version = { "mcp.protocol.version": servers.status(serverId)?.info?.protocolVersion };
    const transport = config.current.servers.find(({ id }) => id === serverId)?.transport;
    if (!transport || transport.kind === "stdio") return { ...version, "network.transport": "pipe" };
    if (!URL.canParse(transport.url)) return { ...version, "network.transport": "tcp" };
    const { hostname, port, protocol } = new URL(transport.url);
    return {
      ...version,
      "network.transport": "tcp",
      "network.protocol.name": "http",
      "server.address": hostname,
      "server.port": Number(port || (protocol === "https:" ? 443 : 80)),
    };
  };
  const mask = (text: string): string => masker.text(text);
  const maskJson = (text: string): string => masker.text(masker.json(text));
  return {
    tracing: new Tracing({ settings, exporter, served, asked, mask, maskJson, connection, methodLabel }),
    close() {
      clearInterval(timer);
      return exporter.close(measured(), CLOSE_MS);
    },
  };
}

/** `Bearer abc` is secret both as a whole and without the scheme. Shorter values are ordinary words. */
function secretsOf({ traces, metrics }: OtelSettings): string[] {
  const values = [traces, metrics].flatMap((signal) => Object.values(signal?.headers ?? {}));
  return values.flatMap((value) => [value, value.slice(value.indexOf(" ") + 1)]).filter(({ length }) => length >= 6);
}

/** The settings of OpenTelemetry: the config's, completed by the standard environment variables. */
import type { OtelConfig } from "../config/schema/otel.ts";

export interface OtelSettings {
  readonly traces: string;
  readonly metrics: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly sample: number;
  readonly withArguments: boolean;
  /** The time between two exports. */
  readonly delayMs: number;
  readonly metricsMs: number;
  readonly queueSize: number;
  readonly batchSize: number;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Returns undefined if nothing says where to send it, or the environment switches it off. */
export function otelSettings(config: OtelConfig, env: Env, version: string): OtelSettings | undefined {
  if (/^true$/i.test(env["OTEL_SDK_DISABLED"] ?? "") || /^none$/i.test(env["OTEL_TRACES_EXPORTER"] ?? ""))
    return undefined;
  const base = config.endpoint ?? env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const traces =
    (config.endpoint === undefined && env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]) || under(base, "/v1/traces");
  const metrics =
    (config.endpoint === undefined && env["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"]) || under(base, "/v1/metrics");
  if (traces === undefined) return undefined;
  const isOff = env["OTEL_TRACES_SAMPLER"] === "always_off" || env["OTEL_TRACES_SAMPLER"] === "parentbased_always_off";
  const ratio = /ratio/.test(env["OTEL_TRACES_SAMPLER"] ?? "") ? Number(env["OTEL_TRACES_SAMPLER_ARG"] ?? 1) : 1;
  return {
    traces,
    metrics: metrics ?? "",
    headers: { ...pairs(env["OTEL_EXPORTER_OTLP_HEADERS"]), ...config.headers },
    resource: {
      "service.name": env["OTEL_SERVICE_NAME"] ?? "goblin",
      "service.version": version,
      "telemetry.sdk.name": "goblin",
      "telemetry.sdk.language": "nodejs",
      ...pairs(env["OTEL_RESOURCE_ATTRIBUTES"]),
    },
    sample: isOff ? 0 : config.sample * (Number.isFinite(ratio) ? Math.min(1, Math.max(0, ratio)) : 1),
    withArguments: config.arguments,
    delayMs: positive(env["OTEL_BSP_SCHEDULE_DELAY"], 5000),
    metricsMs: positive(env["OTEL_METRIC_EXPORT_INTERVAL"], 60_000),
    queueSize: positive(env["OTEL_BSP_MAX_QUEUE_SIZE"], 2048),
    batchSize: positive(env["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"], 512),
  };
}

function under(base: string | undefined, path: string): string | undefined {
  return base === undefined || base === "" ? undefined : base.replace(/\/+$/, "") + path;
}

function positive(text: string | undefined, preset: number): number {
  const value = Number(text);
  return Number.isFinite(value) && value > 0 ? value : preset;
}

/** Reads `a=1,b=2`, with percent-encoded values, as OpenTelemetry writes lists. */
function pairs(text: string | undefined): Record<string, string> {
  const found: Record<string, string> = {};
  for (const part of text?.split(",") ?? []) {
    const at = part.indexOf("=");
    if (at <= 0) continue;
    const value = part.slice(at + 1).trim();
    try {
      found[part.slice(0, at).trim()] = decodeURIComponent(value);
    } catch {
      found[part.slice(0, at).trim()] = value;
    }
  }
  return found;
}

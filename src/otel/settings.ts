/** The settings of OpenTelemetry: the config's, completed by the standard environment variables. */
import type { OtelConfig } from "../config/schema/otel.ts";

export interface OtelSettings {
  /** Where spans go; undefined: nowhere. */
  readonly traces: string | undefined;
  /** Where metrics go; undefined: nowhere. */
  readonly metrics: string | undefined;
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
  if (/^true$/i.test(env["OTEL_SDK_DISABLED"] ?? "")) return undefined;
  const endpoint = (signal: "TRACES" | "METRICS"): string | undefined => {
    if (/^none$/i.test(env[`OTEL_${signal}_EXPORTER`] ?? "")) return undefined;
    const own = config.endpoint === undefined ? env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] : undefined;
    return own || under(config.endpoint ?? env["OTEL_EXPORTER_OTLP_ENDPOINT"], `/v1/${signal.toLowerCase()}`);
  };
  const traces = endpoint("TRACES");
  const metrics = endpoint("METRICS");
  if (traces === undefined && metrics === undefined) return undefined;
  const isOff = env["OTEL_TRACES_SAMPLER"] === "always_off" || env["OTEL_TRACES_SAMPLER"] === "parentbased_always_off";
  const ratio = /ratio/.test(env["OTEL_TRACES_SAMPLER"] ?? "") ? Number(env["OTEL_TRACES_SAMPLER_ARG"] ?? 1) : 1;
  return {
    traces,
    metrics,
    headers: { ...pairs(env["OTEL_EXPORTER_OTLP_HEADERS"]), ...config.headers },
    resource: {
      "service.name": "goblin",
      "service.version": version,
      "telemetry.sdk.name": "goblin",
      "telemetry.sdk.language": "nodejs",
      "telemetry.sdk.version": version,
      ...pairs(env["OTEL_RESOURCE_ATTRIBUTES"]),
      ...(env["OTEL_SERVICE_NAME"] && { "service.name": env["OTEL_SERVICE_NAME"] }),
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

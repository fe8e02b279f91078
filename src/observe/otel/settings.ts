/** The settings of OpenTelemetry: the config's, completed by the standard environment variables. */
import type { OtelConfig } from "../../config/schema/otel.ts";
import { readSignal, type Signal, type SignalSources } from "./signal.ts";
import { pairs, positive } from "./variables.ts";

export interface OtelSettings {
  /** Where spans go; undefined: nowhere. */
  readonly traces: Signal | undefined;
  /** Where metrics go; undefined: nowhere. */
  readonly metrics: Signal | undefined;
  readonly resource: Readonly<Record<string, string>>;
  readonly sample: number;
  readonly withArguments: boolean;
  /** The time between two exports. */
  readonly delayMs: number;
  readonly metricsMs: number;
  readonly queueSize: number;
  readonly batchSize: number;
}

export interface SettingsSources extends Pick<SignalSources, "env" | "warn"> {
  readonly config: OtelConfig;
  readonly version: string;
}

/** Returns undefined if nothing says where to send it, or the environment switches it off. */
export function otelSettings({ config, env, version, warn }: SettingsSources): OtelSettings | undefined {
  if (/^true$/i.test(env["OTEL_SDK_DISABLED"] ?? "")) return undefined;
  const warnings = new Set<string>();
  const sources = { config, env, warn: (message: string) => void warnings.add(message) };
  const traces = readSignal("TRACES", sources);
  const metrics = readSignal("METRICS", sources);
  for (const message of warnings) warn(message);
  if (traces === undefined && metrics === undefined) return undefined;
  const isOff = env["OTEL_TRACES_SAMPLER"] === "always_off" || env["OTEL_TRACES_SAMPLER"] === "parentbased_always_off";
  const ratio = /ratio/.test(env["OTEL_TRACES_SAMPLER"] ?? "") ? Number(env["OTEL_TRACES_SAMPLER_ARG"] ?? 1) : 1;
  const queueSize = positive(env["OTEL_BSP_MAX_QUEUE_SIZE"], 2048);
  return {
    traces,
    metrics,
    resource: {
      "service.name": "goblin",
      "service.version": version,
      "telemetry.sdk.name": "goblin",
      "telemetry.sdk.language": "nodejs",
      "telemetry.sdk.version": version,
      ...Object.fromEntries(pairs(env["OTEL_RESOURCE_ATTRIBUTES"]).filter(([name]) => name !== "")),
      ...(env["OTEL_SERVICE_NAME"] && { "service.name": env["OTEL_SERVICE_NAME"] }),
    },
    sample: isOff ? 0 : config.sample * (Number.isFinite(ratio) ? Math.min(1, Math.max(0, ratio)) : 1),
    withArguments: config.arguments,
    delayMs: positive(env["OTEL_BSP_SCHEDULE_DELAY"], 5000),
    metricsMs: positive(env["OTEL_METRIC_EXPORT_INTERVAL"], 60_000),
    queueSize,
    batchSize: Math.min(queueSize, positive(env["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"], 512)),
  };
}

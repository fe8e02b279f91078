/** The settings of OpenTelemetry: what the config says, and what the standard variables say. */
import { beforeEach, expect, test } from "vitest";
import { otelSettings } from "../../../../src/observe/otel/settings.ts";

const unset = { headers: {}, sample: 1, arguments: false };
const warnings: string[] = [];
const settings = (env: Record<string, string>, endpoint?: string) => {
  const config = { ...unset, ...(endpoint !== undefined && { endpoint }) };
  return otelSettings({ config, env, version: "1.2.3", warn: (message) => void warnings.push(message) });
};

beforeEach(() => void warnings.splice(0));

test("without an endpoint, or switched off, there is nothing", () => {
  expect(settings({})).toBeUndefined();
  expect(settings({ OTEL_SDK_DISABLED: "true" }, "http://127.0.0.1:4318")).toBeUndefined();
  expect(
    settings({ OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" }, "http://127.0.0.1:4318"),
  ).toBeUndefined();
});

test("traces and metrics go below the endpoint, or each to its own", () => {
  const both = {
    traces: { url: "http://127.0.0.1:4318/v1/traces" },
    metrics: { url: "http://127.0.0.1:4318/v1/metrics" },
  };
  expect(settings({}, "http://127.0.0.1:4318/")).toMatchObject(both);
  expect(settings({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" })).toMatchObject(both);
  expect(settings({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://127.0.0.1:9/m" })).toMatchObject({
    traces: undefined,
    metrics: { url: "http://127.0.0.1:9/m" },
  });
});

test("one of both can be switched off", () => {
  const endpoint = "http://127.0.0.1:4318";
  expect(settings({ OTEL_TRACES_EXPORTER: "none" }, endpoint)).toMatchObject({
    traces: undefined,
    metrics: { url: `${endpoint}/v1/metrics` },
  });
  expect(settings({ OTEL_METRICS_EXPORTER: "none" }, endpoint)).toMatchObject({
    traces: { url: `${endpoint}/v1/traces` },
    metrics: undefined,
  });
});

test("the service's name: its own variable, then the resource's attributes, then goblin", () => {
  const nameOf = (env: Record<string, string>) => settings(env, "http://127.0.0.1:4318")?.resource["service.name"];
  expect(nameOf({})).toBe("goblin");
  expect(nameOf({ OTEL_RESOURCE_ATTRIBUTES: "service.name=tools,team=a%20b" })).toBe("tools");
  expect(nameOf({ OTEL_RESOURCE_ATTRIBUTES: "service.name=tools", OTEL_SERVICE_NAME: "mine" })).toBe("mine");
});

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

test("headers: the signal's variable, then the general one", () => {
  const env = {
    OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20general,x-team=a,x-all=1",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "authorization=Bearer%20traces",
  };
  const found = settings({ ...env, ...ENDPOINT });
  expect(found?.traces?.headers).toEqual({ authorization: "Bearer traces", "x-team": "a", "x-all": "1" });
  expect(found?.metrics?.headers).toEqual({ authorization: "Bearer general", "x-team": "a", "x-all": "1" });
  expect(warnings).toEqual([]);
});

test("what is no header is left out, and the warning shows nothing of it", () => {
  const env = {
    OTEL_EXPORTER_OTLP_HEADERS: "Authorization: Basic c2VjcmV0cw==,a-secret-value,x-key=secret%0Ax,good=1",
    ...ENDPOINT,
  };
  expect(settings(env)?.traces?.headers).toEqual({ good: "1" });
  expect(warnings).toEqual([
    "OTEL_EXPORTER_OTLP_HEADERS has an entry that is no header, which is left out. Write name=value, percent-encoded",
  ]);
});

test("a name and a password in the address become a header", () => {
  expect(settings({}, "http://me:p%40ss@127.0.0.1:4318")?.traces).toEqual({
    url: "http://127.0.0.1:4318/v1/traces",
    headers: { authorization: "Basic bWU6cEBzcw==" },
    timeoutMs: 10_000,
  });
});

test("timeouts: the signal's, the general one, ten seconds", () => {
  const times = (env: Record<string, string>) => {
    const { traces, metrics } = settings({ ...env, ...ENDPOINT })!;
    return [traces?.timeoutMs, metrics?.timeoutMs];
  };
  expect(times({})).toEqual([10_000, 10_000]);
  expect(times({ OTEL_EXPORTER_OTLP_TIMEOUT: "500" })).toEqual([500, 500]);
  expect(times({ OTEL_EXPORTER_OTLP_TIMEOUT: "500", OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: "70" })).toEqual([500, 70]);
  expect(times({ OTEL_EXPORTER_OTLP_TIMEOUT: "soon" })).toEqual([10_000, 10_000]);
});

test("a protocol that the gateway does not speak gets a warning that names the variable and the fix", () => {
  expect(settings({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", ...ENDPOINT })).toBeUndefined();
  expect(warnings.splice(0)).toEqual([
    "OTEL_EXPORTER_OTLP_PROTOCOL asks for a protocol that Goblin does not speak, so nothing is sent. Set it to http/json, and the endpoint to the collector's address for OTLP over HTTP, usually port 4318",
  ]);
  const own = { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "grpc" };
  expect(settings({ ...own, ...ENDPOINT })).toMatchObject({ traces: { url: expect.any(String) }, metrics: undefined });
  expect(warnings.splice(0)).toEqual([expect.stringMatching(/^OTEL_EXPORTER_OTLP_METRICS_PROTOCOL asks for /)]);
  expect(settings({ OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf", ...ENDPOINT })?.traces).toBeDefined();
  expect(warnings.splice(0)).toEqual([
    "OTEL_EXPORTER_OTLP_PROTOCOL asks for http/protobuf. Goblin sends http/json, which collectors take at the same address",
  ]);
  // The config's address is one for OTLP over HTTP.
  expect(settings({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "http://127.0.0.1:4318")?.traces).toBeDefined();
  expect(settings({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toBeUndefined();
  expect(warnings).toEqual([]);
});

test("a malformed address gets a warning that does not repeat it", () => {
  expect(settings({ OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4317/a-secret" })).toBeUndefined();
  expect(warnings).toEqual([
    "OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL, so nothing is sent there. Set it to one such as http://127.0.0.1:4318",
  ]);
});

test("sizes and times that no queue or timer can have are not taken", () => {
  const sizes = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "0.5", OTEL_BSP_MAX_QUEUE_SIZE: "100" };
  expect(settings({ ...sizes, OTEL_BSP_SCHEDULE_DELAY: "1e12", ...ENDPOINT })).toMatchObject({
    batchSize: 100,
    queueSize: 100,
    delayMs: 2_147_483_647,
  });
});

/** The settings of OpenTelemetry: what the config says, and what the standard variables say. */
import { expect, test } from "vitest";
import { otelSettings } from "../../../src/otel/settings.ts";

const unset = { headers: {}, sample: 1, arguments: false };
const settings = (env: Record<string, string>, endpoint?: string) =>
  otelSettings({ ...unset, ...(endpoint !== undefined && { endpoint }) }, env, "1.2.3");

test("without an endpoint, or switched off, there is nothing", () => {
  expect(settings({})).toBeUndefined();
  expect(settings({ OTEL_SDK_DISABLED: "true" }, "http://127.0.0.1:4318")).toBeUndefined();
  expect(
    settings({ OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" }, "http://127.0.0.1:4318"),
  ).toBeUndefined();
});

test("traces and metrics go below the endpoint, or each to its own", () => {
  const both = { traces: "http://127.0.0.1:4318/v1/traces", metrics: "http://127.0.0.1:4318/v1/metrics" };
  expect(settings({}, "http://127.0.0.1:4318/")).toMatchObject(both);
  expect(settings({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" })).toMatchObject(both);
  expect(settings({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://127.0.0.1:9/m" })).toMatchObject({
    traces: undefined,
    metrics: "http://127.0.0.1:9/m",
  });
});

test("one of both can be switched off", () => {
  const endpoint = "http://127.0.0.1:4318";
  expect(settings({ OTEL_TRACES_EXPORTER: "none" }, endpoint)).toMatchObject({
    traces: undefined,
    metrics: `${endpoint}/v1/metrics`,
  });
  expect(settings({ OTEL_METRICS_EXPORTER: "none" }, endpoint)).toMatchObject({
    traces: `${endpoint}/v1/traces`,
    metrics: undefined,
  });
});

test("the service's name: its own variable, then the resource's attributes, then goblin", () => {
  const nameOf = (env: Record<string, string>) => settings(env, "http://127.0.0.1:4318")?.resource["service.name"];
  expect(nameOf({})).toBe("goblin");
  expect(nameOf({ OTEL_RESOURCE_ATTRIBUTES: "service.name=tools,team=a%20b" })).toBe("tools");
  expect(nameOf({ OTEL_RESOURCE_ATTRIBUTES: "service.name=tools", OTEL_SERVICE_NAME: "mine" })).toBe("mine");
});

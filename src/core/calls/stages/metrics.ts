/**
 * Counts every request exactly once, under bounded labels. Routed requests are counted as they pass
 * the stage; `local`, `listed` and `refused` count all others.
 */

import type { Flight } from "../../../mcp/protocol/flight.ts";
import type { Answer } from "../../../mcp/protocol/json-rpc.ts";
import type { Outcome } from "../../../mcp/protocol/outcomes.ts";
import type { Tracing } from "../../../observe/otel/tracing.ts";
import type { Activity } from "../../../observe/telemetry/activity.ts";
import { CallRecord } from "../../../observe/telemetry/call-record.ts";
import type { KeptCalls } from "../../../observe/telemetry/kept-calls.ts";
import {
  codeLabel,
  errorTypeLabel,
  GATEWAY,
  methodLabel,
  mimeLabel,
  NO_SERVER,
} from "../../../observe/telemetry/labels.ts";
import type { Failure, Meter, Meters } from "../../../observe/telemetry/meters.ts";
import { LateRoute } from "../../routing/late-route.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Stage } from "../compose.ts";
import { outcomeOf } from "../outcome.ts";

export interface CallMetricsParts {
  readonly meters: Meters;
  readonly activity: Activity;
  readonly keptCalls: KeptCalls;
  readonly tracing: Tracing | undefined;
}

export class CallMetrics implements Stage {
  readonly #meters: Meters;
  readonly #activity: Activity;
  readonly #keptCalls: KeptCalls;

  readonly #tracing: Tracing | undefined;

  constructor({ meters, activity, keptCalls, tracing }: CallMetricsParts) {
    this.#meters = meters;
    this.#activity = activity;
    this.#keptCalls = keptCalls;
    this.#tracing = tracing;
  }

  enter({ call }: Flight, { serverId }: Route): undefined {
    this.#begin(this.#meters.meter(serverId, methodLabel(call.method)));
  }

  leave(flight: Flight, route: Route, answer: Answer): Answer {
    const method = methodLabel(flight.call.method);
    const meter = this.#meters.meter(route.serverId, method);
    this.#end(route instanceof LateRoute ? this.#meters.meter(route.countedFor, method) : meter);
    this.#record(flight, answer, meter, route);
    return answer;
  }

  /**
   * Counts a request that the gateway answers itself. Returns the function to call with the answer.
   */
  local(flight: Flight): (answer: Answer) => void {
    const { method } = flight.call;
    const own = this.#meters.meter(GATEWAY, methodLabel(method));
    this.#begin(own);
    return (answer) => {
      this.#end(own);
      const owner = flight.serverId ?? (answer.ok ? GATEWAY : NO_SERVER);
      this.#record(flight, answer, this.#meters.meter(owner, own.method));
    };
  }

  /** Counts a list. Lists are not calls, so the activity does not show them. */
  listed(flight: Flight, list: Answer): void {
    const { call, startedAt } = flight;
    this.#meters.meter(GATEWAY, call.method).end("ok", performance.now() - startedAt);
    this.#meters.countCaller(call.who, call.client.visibility?.profile, "ok");
    this.#tracing?.end(flight, list, "ok");
  }

  /** Counts a request that was refused before it reached a server. */
  refused(flight: Flight, answer: Answer): void {
    const { call, serverId = NO_SERVER } = flight;
    if (call.method === "resources/read") this.#meters.countRead(serverId, mimeLabel(undefined), "failure");
    this.#record(flight, answer, this.#meters.meter(serverId, methodLabel(call.method)));
  }

  #begin(meter: Meter): void {
    meter.inFlight++;
    this.#activity.inFlight++;
  }

  #end(meter: Meter): void {
    meter.inFlight--;
    this.#activity.inFlight--;
  }

  #record(flight: Flight, answer: Answer, meter: Meter, route?: Route): void {
    const { call, startedAt } = flight;
    const ms = performance.now() - startedAt;
    const outcome = outcomeOf(call, answer);
    const failure = failureOf(answer, outcome);
    meter.end(outcome, ms, failure);
    const { sentAt, answeredAt } = flight;
    if (sentAt !== 0) meter.ask((answeredAt || startedAt + ms) - sentAt, failure);
    this.#meters.countCaller(call.who, call.client.visibility?.profile, outcome);
    this.#tracing?.end(flight, answer, outcome);
    if (route && call.method === "resources/read") {
      this.#meters.countRead(route.serverId, mimeLabel(route.mimeType), answer.ok ? "success" : "failure");
    }
    const isListed = (route?.spec.names === "tool" || route?.spec.names === "prompt") && route.name !== "";
    const serverId = meter.serverId === NO_SERVER ? null : meter.serverId;
    const record = new CallRecord(call, { answer, outcome, serverId, ms });
    // First, so that listeners that hear of the call can look at it.
    this.#keptCalls.add(record, flight, answer);
    this.#activity.record(record, isListed ? route.name : undefined);
  }
}

function failureOf(answer: Answer, outcome: Outcome): Failure | undefined {
  const type = errorTypeLabel(answer, outcome);
  if (type === undefined) return undefined;
  return { type, code: answer.ok ? undefined : codeLabel(answer) };
}

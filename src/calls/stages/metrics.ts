/**
 * Counts every request: those that reach a server as a stage around the rest of the pipeline, those
 * that the gateway answers itself or refuses by the wrappers here. Each request is counted exactly
 * once, under labels that are bounded.
 */
import type { Call } from "../../protocol/call.ts";
import { type Answer, type Raw, rawText } from "../../protocol/json-rpc.ts";
import { memberText } from "../../protocol/json-text.ts";
import { listMethods, lookUp } from "../../protocol/methods.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Activity } from "../../telemetry/activity.ts";
import { codeLabel, GATEWAY, methodLabel, mimeLabel, NO_SERVER } from "../../telemetry/labels.ts";
import type { Meter, Meters, Outcome } from "../../telemetry/meters.ts";
import type { Stage } from "../compose.ts";

export interface CountOptions {
  readonly meters: Meters;
  readonly activity: Activity;
}

type Handle = (call: Call) => Promise<Answer>;

const SHOWN_NAME = 200;
const IS_ERROR = '"isError"';
const IS_ERROR_BYTES = Buffer.from(IS_ERROR);

export class CallMetrics {
  readonly #meters: Meters;
  readonly #activity: Activity;

  constructor({ meters, activity }: CountOptions) {
    this.#meters = meters;
    this.#activity = activity;
  }

  /** For what is routed to a server. */
  readonly stage: Stage = {
    enter: (call, route) => {
      call.started = performance.now();
      this.#enter(this.#meters.meter(route.serverId, methodLabel(call.method)));
      return undefined;
    },
    leave: (call, route, answer) => {
      const meter = this.#meters.meter(route.serverId, methodLabel(call.method));
      this.#leave(meter);
      this.#end(call, answer, meter, call.started, route);
      return answer;
    },
  };

  /**
   * Around a handler that answers in the gateway's own name. What it throws is counted as refused.
   */
  readonly local = (handle: Handle): Handle => {
    return async (call) => {
      const started = performance.now();
      const own = this.#meters.meter(GATEWAY, methodLabel(call.method));
      this.#enter(own);
      try {
        const answer = await handle(call);
        const owner = call.serverId ?? (answer.ok ? GATEWAY : NO_SERVER);
        const meter = this.#meters.meter(owner, own.method);
        this.#end(call, answer, meter, started);
        return answer;
      } finally {
        this.#leave(own);
      }
    };
  };

  readonly locals = (handlers: Readonly<Record<string, Handle>>): Readonly<Record<string, Handle>> =>
    Object.fromEntries(Object.entries(handlers).map(([method, handle]) => [method, this.local(handle)]));

  /** Around the look-up of the gateway's own tools. */
  readonly localTool = (find: (name: unknown) => Handle | undefined): ((name: unknown) => Handle | undefined) => {
    return (name) => {
      const tool = find(name);
      return tool && this.local(tool);
    };
  };

  /** Around the entrance, for lists: they are counted, but are no calls. */
  readonly lists = (handle: Handle): Handle => {
    return (call) => (lookUp(listMethods, call.method) ? this.#list(call, handle) : handle(call));
  };

  /** A request that reached nobody. */
  readonly refused = (call: Call, answer: Answer): void => {
    const meter = this.#meters.meter(call.serverId ?? NO_SERVER, methodLabel(call.method));
    if (call.method === "resources/read") this.#meters.countRead(meter.serverId, mimeLabel(undefined), "failure");
    this.#end(call, answer, meter, performance.now());
  };

  async #list(call: Call, handle: Handle): Promise<Answer> {
    const started = performance.now();
    const answer = await handle(call);
    if (answer.ok) this.#meters.meter(GATEWAY, call.method).end("ok", performance.now() - started, undefined);
    return answer;
  }

  #enter(meter: Meter): void {
    meter.inFlight++;
    this.#activity.inFlight++;
  }

  #leave(meter: Meter): void {
    meter.inFlight--;
    this.#activity.inFlight--;
  }

  #end(call: Call, answer: Answer, meter: Meter, started: number, route?: Route): void {
    const ms = performance.now() - started;
    const outcome = outcomeOf(call, answer);
    meter.end(outcome, ms, answer.ok ? undefined : codeLabel(answer));
    if (route && call.method === "resources/read") {
      this.#meters.countRead(route.serverId, mimeLabel(route.mimeType), answer.ok ? "success" : "failure");
    }
    const isListed = route?.spec.names === "tool" || route?.spec.names === "prompt";
    const record = {
      time: Date.now(),
      method: call.method,
      name: nameOf(call),
      serverId: meter.serverId === NO_SERVER ? null : meter.serverId,
      ms,
      outcome,
      client: clientName(call),
      code: answer.ok ? null : (answer.symbol ?? answer.code),
      requestId: call.requestId,
    };
    this.#activity.record(record, isListed ? route.name : undefined);
  }
}

function outcomeOf(call: Call, answer: Answer): Outcome {
  if (answer.ok) return call.method === "tools/call" && isToolError(answer.raw) ? "tool-error" : "ok";
  switch (answer.symbol) {
    case "TIMEOUT":
    case "PROMPT-004":
      return "timeout";
    case "BACKEND_UNAVAILABLE":
      return "unavailable";
    case "CANCELLED":
      return "cancelled";
    default:
      return call.cancelled === "client" ? "cancelled" : "error";
  }
}

/** Whether a tool's result says that it failed. The text is only looked into if it could. */
function isToolError(raw: Raw): boolean {
  const mayBe = typeof raw === "string" ? raw.includes(IS_ERROR) : raw.includes(IS_ERROR_BYTES);
  return mayBe && memberText(rawText(raw), "isError") === "true";
}

/** What the client named, short enough to keep. */
function nameOf({ params }: Call): string | null {
  const { name, uri } = params as { name?: unknown; uri?: unknown };
  const given = typeof name === "string" ? name : uri;
  return typeof given === "string" ? given.slice(0, SHOWN_NAME) : null;
}

function clientName({ client }: Call): string | null {
  const { name } = client.info;
  return typeof name === "string" ? name.slice(0, SHOWN_NAME) : null;
}

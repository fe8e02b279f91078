/**
 * Traces calls by OpenTelemetry's semantic conventions for MCP: a SERVER span for the client's
 * request and a CLIENT span for the request to the server, so that client, gateway and server are
 * one trace.
 *
 * The parent is the client's own context in `_meta`; a context of the HTTP request is then a link.
 * Invariant: the trace context is the only thing that a server sees of it. Texts from clients and
 * servers are cut, and secrets in them masked.
 */
import { memberText, setMember } from "../json/json-text.ts";
import { errorTable } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import { type Answer, rawText } from "../protocol/json-rpc.ts";
import type { Outcome } from "../protocol/outcomes.ts";
import { errorType, errorTypeLabel } from "../telemetry/labels.ts";
import type { Durations } from "./durations.ts";
import type { Exporter } from "./exporter.ts";
import type { OtelSettings } from "./settings.ts";
import {
  attributes,
  childOf,
  nanoseconds,
  parseTraceparent,
  type Span,
  type TraceContext,
  traceparent,
} from "./span.ts";

const MOST_TEXT = 4096;
const SHORT_TEXT = 256;
/** A client's mistakes: the gateway did its part. */
const CLIENT_ERRORS: ReadonlySet<number> = new Set(
  (["PARSE_ERROR", "INVALID_REQUEST", "METHOD_NOT_FOUND", "INVALID_PARAMS", "RESOURCE_NOT_FOUND"] as const).map(
    (symbol) => errorTable[symbol].rpc,
  ),
);
const TARGETS: Readonly<Record<string, string>> = {
  "tools/call": "gen_ai.tool.name",
  "prompts/get": "gen_ai.prompt.name",
};

/** The context of one call. */
interface Traced {
  readonly server: TraceContext;
  readonly client: TraceContext;
  readonly parent: TraceContext | undefined;
  readonly link: TraceContext | undefined;
}

export interface TracingParts {
  readonly settings: OtelSettings;
  readonly exporter: Pick<Exporter, "add">;
  readonly served: Durations;
  readonly asked: Durations;
  readonly mask: (text: string) => string;
  /** Masks the beginning of a JSON text. */
  readonly maskJson: (text: string) => string;
  /** How a server is reached: `network.transport`, and its address if it has one. */
  readonly network: (serverId: string) => Readonly<Record<string, string | number>>;
  readonly methodLabel: (method: string) => string;
}

export class Tracing {
  readonly #parts: TracingParts;
  readonly #traced = new WeakMap<Flight, Traced>();

  constructor(parts: TracingParts) {
    this.#parts = parts;
  }

  /** Begins the trace of a call. Returns the params for its server, with the context in them. */
  begin(flight: Flight, params: string): string {
    const { call } = flight;
    const meta = call.params["_meta"] as Readonly<Record<string, unknown>> | undefined;
    const given = parseTraceparent(meta?.["traceparent"]);
    const http = parseTraceparent(call.trace?.["traceparent"]);
    const parent = given ?? http;
    const server = childOf(parent, () => Math.random() < this.#parts.settings.sample);
    const client = childOf(server, () => server.isSampled);
    this.#traced.set(flight, { server, client, parent, link: given && http });
    const text = traceparent(client);
    call.trace = { ...call.trace, traceparent: text };
    return setMember(
      params,
      "_meta",
      setMember(memberText(params, "_meta") ?? "{}", "traceparent", JSON.stringify(text)),
    );
  }

  /** Ends the trace. `outcome`: how the call ended, as the metrics name it. */
  end(flight: Flight, answer: Answer, outcome: Outcome): void {
    const endedAt = performance.now();
    const traced = this.#traced.get(flight);
    const error = errorType(answer, outcome);
    this.#measure(flight, endedAt, errorTypeLabel(answer, outcome));
    if (!traced?.server.isSampled) return;
    const shared = this.#shared(flight, answer, error);
    const { server, client, parent, link } = traced;
    const name = [flight.call.method, flight.call.method in TARGETS ? flight.target : undefined]
      .filter(Boolean)
      .join(" ");
    const isClientError = !answer.ok && CLIENT_ERRORS.has(answer.code);
    const span = (context: TraceContext, own: Partial<Span> & Pick<Span, "kind" | "attributes">): Span => ({
      traceId: context.traceId,
      spanId: context.spanId,
      name: name.slice(0, SHORT_TEXT),
      startTimeUnixNano: nanoseconds(flight.startedAt),
      endTimeUnixNano: nanoseconds(endedAt),
      status: statusOf(answer, error, own.kind === 2 && isClientError, this.#parts.mask),
      ...own,
    });
    this.#parts.exporter.add(
      span(server, {
        kind: 2,
        ...(parent && { parentSpanId: parent.spanId }),
        ...(link && { links: [{ traceId: link.traceId, spanId: link.spanId }] }),
        attributes: attributes({ ...shared, ...clientAttributes(flight) }),
      }),
    );
    if (flight.sentAt === 0 || flight.serverId === undefined) return;
    this.#parts.exporter.add(
      span(client, {
        kind: 3,
        parentSpanId: server.spanId,
        startTimeUnixNano: nanoseconds(flight.sentAt),
        endTimeUnixNano: nanoseconds(flight.answeredAt || endedAt),
        attributes: attributes({
          ...shared,
          "jsonrpc.request.id": flight.sentId === 0 ? undefined : String(flight.sentId),
          "goblin.server.id": flight.serverId,
          ...this.#parts.network(flight.serverId),
        }),
      }),
    );
  }

  #measure(flight: Flight, endedAt: number, error: string | undefined): void {
    const { served, asked, methodLabel } = this.#parts;
    const labels = {
      "mcp.method.name": methodLabel(flight.call.method),
      ...(error !== undefined && { "error.type": error }),
    };
    served.add((endedAt - flight.startedAt) / 1000, labels);
    if (flight.sentAt === 0 || flight.serverId === undefined) return;
    const ms = (flight.answeredAt || endedAt) - flight.sentAt;
    asked.add(ms / 1000, { ...labels, "goblin.server.id": flight.serverId });
  }

  #shared({ call, target }: Flight, answer: Answer, error: string | undefined): Record<string, string | undefined> {
    const { withArguments } = this.#parts.settings;
    const isTool = call.method === "tools/call";
    const targetName = TARGETS[call.method];
    return {
      "mcp.method.name": call.method.slice(0, SHORT_TEXT),
      ...(targetName !== undefined && { [targetName]: target?.slice(0, SHORT_TEXT) }),
      "mcp.resource.uri":
        call.method.startsWith("resources/") && target !== undefined
          ? this.#parts.mask(target.slice(0, MOST_TEXT)).slice(0, SHORT_TEXT)
          : undefined,
      ...(isTool && { "gen_ai.operation.name": "execute_tool" }),
      "rpc.response.status_code": answer.ok ? undefined : String(answer.code),
      "error.type": error,
      "goblin.request.id": call.requestId,
      ...(withArguments &&
        isTool && {
          "gen_ai.tool.call.arguments": this.#shown(memberText(call.text, "arguments") ?? "{}"),
          "gen_ai.tool.call.result": answer.ok ? this.#shown(rawText(answer.raw)) : undefined,
        }),
    };
  }

  /** Masks before it cuts: a part of a secret would not be found. */
  #shown(json: string): string {
    return this.#parts.maskJson(json.slice(0, 2 * MOST_TEXT)).slice(0, MOST_TEXT);
  }
}

function clientAttributes({ call }: Flight): Record<string, string | undefined> {
  const { client, who } = call;
  return {
    "mcp.protocol.version": client.protocolVersion,
    "jsonrpc.request.id": call.id === undefined ? undefined : String(call.id).slice(0, SHORT_TEXT),
    // The session's key is internal: it identifies the session, and opens nothing.
    "mcp.session.id": client.hasSession ? client.key.slice(0, 8) : undefined,
    "enduser.id": who.name === "" ? undefined : who.name.slice(0, SHORT_TEXT),
  };
}

function statusOf(
  answer: Answer,
  error: string | undefined,
  ...[isForgiven, mask]: [boolean, (text: string) => string]
): Span["status"] {
  if (error === undefined || isForgiven) return { code: 0 };
  if (answer.ok) return { code: 2 };
  const message = memberText(rawText(answer.raw), "message");
  const text: unknown = message === undefined ? undefined : JSON.parse(message);
  return { code: 2, ...(typeof text === "string" && { message: mask(text.slice(0, MOST_TEXT)).slice(0, SHORT_TEXT) }) };
}

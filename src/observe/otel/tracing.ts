/**
 * Traces calls by OpenTelemetry's semantic conventions for MCP: a SERVER span for the client's
 * request and a CLIENT span for the request to the server, so that client, gateway and server are
 * one trace.
 *
 * The parent is the client's own context in `_meta`; a context of the HTTP request is then a link.
 * Invariant: the trace context is the only thing that a server sees of it. Texts from clients and
 * servers are cut, and secrets in them masked.
 */
import { memberText, setMember } from "../../lib/json/json-text.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { errorTable } from "../../mcp/protocol/errors.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import { type Answer, rawText } from "../../mcp/protocol/json-rpc.ts";
import type { Outcome } from "../../mcp/protocol/outcomes.ts";
import { errorType } from "../telemetry/labels.ts";
import type { Exporter } from "./exporter.ts";
import { type Attributes, addressOf, arrivalOfCall } from "./network.ts";
import type { Operations } from "./operations.ts";
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

const MAX_TEXT = 4096;
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
const SERVER = 2;
const CLIENT = 3;

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
  /** Undefined: metrics go nowhere. */
  readonly operations: Pick<Operations, "add"> | undefined;
  readonly mask: (text: string) => string;
  /** Masks the beginning of a JSON text. */
  readonly maskJson: (text: string) => string;
  /** The protocol's version at a server, and how it is reached. */
  readonly connection: (serverId: string) => Attributes;
}

export class Tracing {
  readonly #parts: TracingParts;
  readonly #traced = new WeakMap<Flight, Traced>();

  constructor(parts: TracingParts) {
    this.#parts = parts;
  }

  /** Begins the trace of a call. Returns the params for its server, with the context in them. */
  begin(flight: Flight, params: string): string {
    if (this.#parts.settings.traces === undefined) return params;
    const { call } = flight;
    const traced = this.#contextOf(flight);
    this.#traced.set(flight, traced);
    const text = traceparent(traced.client);
    call.trace = { ...call.trace, traceparent: text };
    return setMember(
      params,
      "_meta",
      setMember(memberText(params, "_meta") ?? "{}", "traceparent", JSON.stringify(text)),
    );
  }

  #contextOf({ call }: Flight): Traced {
    const meta = call.params["_meta"] as Readonly<Record<string, unknown>> | undefined;
    const given = parseTraceparent(meta?.["traceparent"]);
    const http = parseTraceparent(call.trace?.["traceparent"]);
    const parent = given ?? http;
    const server = childOf(parent, () => Math.random() < this.#parts.settings.sample);
    const client = childOf(server, () => server.isSampled);
    return { server, client, parent, link: given && http };
  }

  /**
   * Ends the trace, also that of a call that no server was asked about. `outcome`: how the call
   * ended, as the metrics name it.
   */
  end(flight: Flight, answer: Answer, outcome: Outcome): void {
    const endedAt = performance.now();
    this.#parts.operations?.add(flight, { answer, outcome }, endedAt);
    if (this.#parts.settings.traces === undefined) return;
    const { server, client, parent, link } = this.#traced.get(flight) ?? this.#contextOf(flight);
    if (!server.isSampled) return;
    const error = errorType(answer, outcome);
    const shared = this.#shared(flight.call, answer, error);
    const isClientError = !answer.ok && CLIENT_ERRORS.has(answer.code);
    const span = (context: TraceContext, own: Partial<Span> & Pick<Span, "kind" | "name" | "attributes">): Span => ({
      traceId: context.traceId,
      spanId: context.spanId,
      startTimeUnixNano: nanoseconds(flight.startedAt),
      endTimeUnixNano: nanoseconds(endedAt),
      status: statusOf(answer, own.kind === SERVER && isClientError ? undefined : error, this.#parts.mask),
      ...own,
    });
    const asked = this.#target(flight.call.method, askedFor(flight.call));
    this.#parts.exporter.add(
      span(server, {
        kind: SERVER,
        name: asked.name,
        ...(parent && { parentSpanId: parent.spanId }),
        ...(link && { links: [{ traceId: link.traceId, spanId: link.spanId }] }),
        attributes: attributes({ ...shared, ...asked.attributes, ...clientAttributes(flight) }),
      }),
    );
    if (flight.sentAt === 0 || flight.serverId === undefined) return;
    const sent = this.#target(flight.call.method, flight.target);
    this.#parts.exporter.add(
      span(client, {
        kind: CLIENT,
        name: sent.name,
        parentSpanId: server.spanId,
        startTimeUnixNano: nanoseconds(flight.sentAt),
        endTimeUnixNano: nanoseconds(flight.answeredAt || endedAt),
        attributes: attributes({
          ...shared,
          ...sent.attributes,
          "jsonrpc.request.id": flight.sentId === 0 ? undefined : String(flight.sentId),
          "goblin.server.id": flight.serverId,
          ...this.#parts.connection(flight.serverId),
        }),
      }),
    );
  }

  /** The name of a span about this tool, prompt or resource, and the attribute that names it. */
  #target(method: string, target: string | undefined): { name: string; attributes: Record<string, string> } {
    const key = TARGETS[method];
    const name = method.slice(0, SHORT_TEXT);
    if (target === undefined) return { name, attributes: {} };
    if (key === undefined) {
      const uri = this.#parts.mask(target.slice(0, MAX_TEXT)).slice(0, SHORT_TEXT);
      return { name, attributes: method.startsWith("resources/") ? { "mcp.resource.uri": uri } : {} };
    }
    const shown = target.slice(0, SHORT_TEXT);
    return { name: `${name} ${shown}`, attributes: { [key]: shown } };
  }

  #shared(call: Call, answer: Answer, error: string | undefined): Record<string, string | undefined> {
    const { withArguments } = this.#parts.settings;
    const isTool = call.method === "tools/call";
    return {
      "mcp.method.name": call.method.slice(0, SHORT_TEXT),
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
    return this.#parts.maskJson(json.slice(0, 2 * MAX_TEXT)).slice(0, MAX_TEXT);
  }
}

/** What the client asked for, under the name that the gateway gives it. */
function askedFor({ method, params }: Call): string | undefined {
  const asked = params[method in TARGETS ? "name" : "uri"];
  return typeof asked === "string" ? asked : undefined;
}

function clientAttributes({ call }: Flight): Attributes {
  const { client, who } = call;
  return {
    "mcp.protocol.version": client.protocolVersion,
    "jsonrpc.request.id": call.id === undefined ? undefined : String(call.id).slice(0, SHORT_TEXT),
    // The session's key is internal: it identifies the session, and opens nothing.
    "mcp.session.id": client.hasSession ? client.key.slice(0, 8) : undefined,
    ...arrivalOfCall(call),
    "client.address": addressOf(client),
    "enduser.id": who.name === "" ? undefined : who.name.slice(0, SHORT_TEXT),
  };
}

function statusOf(answer: Answer, error: string | undefined, mask: (text: string) => string): Span["status"] {
  if (error === undefined) return { code: 0 };
  if (answer.ok) return { code: 2 };
  const message = memberText(rawText(answer.raw), "message");
  const text: unknown = message === undefined ? undefined : JSON.parse(message);
  return { code: 2, ...(typeof text === "string" && { message: mask(text.slice(0, MAX_TEXT)).slice(0, SHORT_TEXT) }) };
}

/** The trace context of an HTTP request, which goes on to HTTP backends as it came. */
import type { HttpExchange } from "./exchange.ts";

export function traceOf(x: HttpExchange): Readonly<Record<string, string>> | undefined {
  const traceparent = x.header("traceparent");
  const baggage = x.header("baggage");
  if (traceparent === undefined && baggage === undefined) return undefined;
  // A trace state means nothing without the trace it belongs to.
  const tracestate = traceparent === undefined ? undefined : x.header("tracestate");
  return {
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
    ...(baggage !== undefined && { baggage }),
  };
}

/** The trace context of an HTTP request, forwarded unchanged to HTTP servers. */
import type { HttpExchange } from "./exchange.ts";

export function traceOf(exchange: HttpExchange): Readonly<Record<string, string>> | undefined {
  const traceparent = exchange.header("traceparent");
  const baggage = exchange.header("baggage");
  if (traceparent === undefined && baggage === undefined) return undefined;
  // A tracestate means nothing without its traceparent.
  const tracestate = traceparent === undefined ? undefined : exchange.header("tracestate");
  return {
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
    ...(baggage !== undefined && { baggage }),
  };
}

/** The trace context of an HTTP request, forwarded unchanged to HTTP servers. */
import type { HttpExchange } from "./exchange.ts";

export function traceOf(x: HttpExchange): Readonly<Record<string, string>> | undefined {
  const traceparent = x.header("traceparent");
  const baggage = x.header("baggage");
  if (traceparent === undefined && baggage === undefined) return undefined;
  // A tracestate means nothing without its traceparent.
  const tracestate = traceparent === undefined ? undefined : x.header("tracestate");
  return {
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
    ...(baggage !== undefined && { baggage }),
  };
}

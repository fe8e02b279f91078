/** The trace context of an HTTP request, which goes on to HTTP backends as it came. */
import type { HttpExchange } from "./exchange.ts";

export function traceOf(x: HttpExchange): Readonly<Record<string, string>> | undefined {
  const traceparent = x.header("traceparent");
  if (traceparent === undefined) return undefined;
  const tracestate = x.header("tracestate");
  const baggage = x.header("baggage");
  return { traceparent, ...(tracestate !== undefined && { tracestate }), ...(baggage !== undefined && { baggage }) };
}

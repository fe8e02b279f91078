/** Spans and trace contexts, as W3C Trace Context and OTLP's JSON form have them. */
import { randomBytes } from "node:crypto";

export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

interface Attribute {
  readonly key: string;
  /** OTLP writes integers as texts. */
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
}

/** A span as OTLP has it in JSON. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  /** 2: it was asked; 3: it asks. */
  readonly kind: 2 | 3;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 0: unset; 2: an error. */
  readonly status: { readonly code: 0 | 2; readonly message?: string };
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

export function parseTraceparent(text: unknown): TraceContext | undefined {
  const [, traceId, spanId, flags] = (typeof text === "string" && TRACEPARENT.exec(text)) || [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

export function traceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

export function childOf(parent: TraceContext | undefined, sample: () => boolean): TraceContext {
  const spanId = randomBytes(8).toString("hex");
  if (parent) return { ...parent, spanId };
  return { traceId: randomBytes(16).toString("hex"), spanId, isSampled: sample() };
}

/** Leaves out what is not known. */
export function attributes(values: Readonly<Record<string, string | number | undefined>>): Attribute[] {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [{ key, value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value } }];
  });
}

/** Converts a moment on the clock of `performance.now()` into nanoseconds since 1970. */
export function nanoseconds(at: number): string {
  return String(BigInt(Math.round((performance.timeOrigin + at) * 1000)) * 1000n);
}

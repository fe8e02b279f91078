/**
 * Says once, at the edge, what came in: which era's front takes it, and which kind of message it
 * is. Plain values: it never throws and never touches a transport.
 *
 * The body decides about the era; the version header counts only for a body that says nothing, and
 * a header that contradicts its body is the modern front's to refuse.
 */
import { type Era, eraOf, metaOf, PROTOCOL_VERSION } from "../protocol/envelope.ts";
import { classify, type Inbound } from "../protocol/json-rpc.ts";
import { elementSpans } from "../protocol/json-text.ts";

export type Incoming =
  | { readonly era: Era; readonly message: Inbound }
  /** Several messages in one array, which one legacy version has. */
  | { readonly era: "legacy"; readonly batch: Batch };

/** Counted at once, and only read when that is wanted. */
export interface Batch {
  readonly size: number;
  messages(): readonly Inbound[];
}

export interface IncomingBody {
  /** `text` parsed. */
  readonly value: unknown;
  readonly text: string;
}

/** What one era's front does with a message on a two-way channel. */
export interface EraChannel {
  take(message: Inbound): void;
  /** Ends everything that is under way. */
  close(): void;
}

export function classifyIncoming({ value, text }: IncomingBody, versionHeader?: string): Incoming {
  if (Array.isArray(value)) {
    const messages = (): readonly Inbound[] =>
      elementSpans(text, 0).map(({ start, end }, i) => classify(value[i], text.slice(start, end)));
    return { era: "legacy", batch: { size: value.length, messages } };
  }
  return { era: bodyEra(value) ?? headerEra(versionHeader, value), message: classify(value, text) };
}

/** The era that the header names. A body that is an answer belongs to a legacy session. */
export function headerEra(versionHeader: string | undefined, value?: unknown): Era {
  const named = versionHeader === undefined ? "legacy" : eraOf(versionHeader.trim());
  if (typeof value !== "object" || value === null) return named;
  return typeof (value as { method?: unknown }).method === "string" ? named : "legacy";
}

function bodyEra(value: unknown): Era | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const meta = metaOf((value as { params?: unknown }).params);
  return meta && PROTOCOL_VERSION in meta ? "modern" : undefined;
}

/**
 * Classifies each incoming message once, at the edge: which era's front handles it, and which kind
 * of message it is. It never throws and never touches a transport.
 *
 * The body decides the era. The version header counts only if the body names no version. The modern
 * front rejects a header that contradicts its body.
 */

import { elementSpans } from "../lib/json/json-text.ts";
import { type Era, eraOf, metaOf, PROTOCOL_VERSION } from "../mcp/protocol/envelope.ts";
import { classify, type Inbound } from "../mcp/protocol/json-rpc.ts";
import type { BodyHold } from "./bodies/body-budget.ts";

export type Incoming =
  | { readonly era: Era; readonly message: Inbound }
  /** Several messages in one array. Only one legacy version allows this. */
  | { readonly era: "legacy"; readonly batch: Batch };

/** The size is known at once; the messages are split only on demand. */
export interface Batch {
  readonly size: number;
  messages(): readonly Inbound[];
}

export interface IncomingBody {
  /** `text` parsed. */
  readonly value: unknown;
  readonly text: string;
}

/** One era's handler for messages on a two-way channel. */
export interface EraChannel {
  take(message: Inbound, large?: { readonly hold: BodyHold; readonly early: undefined }): void;
  /** Cancels every request in flight. */
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

/**
 * Returns the era that the header names. A body that is an answer always belongs to a legacy
 * session.
 */
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

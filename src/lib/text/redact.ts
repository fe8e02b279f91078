/**
 * Removes secrets from untrusted texts: a server's error message may echo the credentials we sent.
 *
 * Invariant: a secret is found by its value, however JSON spells it (`\u002B`, `\/`), and also
 * within JSON in a string in JSON. A text without a backslash costs one search per secret.
 */
import { layersOf } from "./layers.ts";

const HIDDEN = "[hidden]";
/** Shorter values are words like "true": hiding them would garble unrelated text. */
const MIN_SECRET_LENGTH = 6;

export interface Redactor {
  (text: string): string;
  /** Whether there is a secret in the text. */
  finds(text: string): boolean;
}

export function createRedactor(secrets: Iterable<string>): Redactor {
  const all = [...new Set(secrets)].filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  const finds = (text: string): boolean => {
    if (all.length === 0) return false;
    for (const layer of layersOf(text)) if (all.some((secret) => layer.text.includes(secret))) return true;
    return false;
  };
  const redact = (text: string): string => (finds(text) ? replaced(text, spansOf(text, all)) : text);
  return Object.assign(redact, { finds });
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function spansOf(text: string, secrets: readonly string[]): Span[] {
  const spans: Span[] = [];
  for (const { text: layer, placeOf } of layersOf(text)) {
    for (const secret of secrets) {
      for (let at = layer.indexOf(secret); at !== -1; at = layer.indexOf(secret, at + 1)) {
        spans.push({ start: placeOf(at), end: placeOf(at + secret.length) });
      }
    }
  }
  return spans;
}

/** Overlapping secrets become one, so that no part of a longer one remains. */
function replaced(text: string, spans: readonly Span[]): string {
  const sorted = [...spans].sort((a, b) => a.start - b.start || b.end - a.end);
  let [out, end] = ["", 0];
  for (const span of sorted) {
    if (span.start >= end) out += `${text.slice(end, span.start)}${HIDDEN}`;
    end = Math.max(end, span.end);
  }
  return out + text.slice(end);
}

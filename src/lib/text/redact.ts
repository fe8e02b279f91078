/**
 * Removes secrets from untrusted texts: a server's error message may echo the credentials we sent.
 *
 * Invariant: a secret is found by its value, however JSON spells it (`\u002B`, `\/`), and also
 * within JSON in a string in JSON. A text without a backslash costs one search per secret.
 */

const HIDDEN = "[hidden]";
/** Shorter values are words like "true": hiding them would garble unrelated text. */
const SHORTEST = 6;
/** How often a text is unescaped. Each layer is a string in a string. */
const MAX_LAYERS = 8;

export interface Redactor {
  (text: string): string;
  /** Whether there is a secret in the text. */
  finds(text: string): boolean;
}

export function createRedactor(secrets: Iterable<string>): Redactor {
  const all = [...new Set(secrets)].filter((secret) => secret.length >= SHORTEST);
  const isIn = (text: string): boolean => all.some((secret) => text.includes(secret));
  const finds = (text: string): boolean => {
    if (all.length === 0) return false;
    let layer = text;
    for (let depth = 0; ; depth++) {
      if (isIn(layer)) return true;
      if (depth === MAX_LAYERS || !layer.includes("\\")) return false;
      const inner = layer.replace(ESCAPE, unescaped);
      if (inner.length === layer.length) return false;
      layer = inner;
    }
  };
  const redact = (text: string): string => (finds(text) ? replaced(text, spansOf(text, all)) : text);
  return Object.assign(redact, { finds });
}

const ESCAPE = /\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt])/g;
const SHORT: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

function unescaped(written: string): string {
  const letter = written[1]!;
  return letter === "u" ? String.fromCharCode(Number.parseInt(written.slice(2), 16)) : (SHORT[letter] ?? letter);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where secrets are in the text, in any of its layers. Spans never cut an escape. */
function spansOf(text: string, secrets: readonly string[]): Span[] {
  const spans: Span[] = [];
  let layer = text;
  /** Where each character of the layer begins in the text, and last where it ends. */
  let places: Uint32Array | undefined;
  for (let depth = 0; ; depth++) {
    const placeOf = (at: number): number => (places ? places[at]! : at);
    for (const secret of secrets) {
      for (let at = layer.indexOf(secret); at !== -1; at = layer.indexOf(secret, at + 1)) {
        spans.push({ start: placeOf(at), end: placeOf(at + secret.length) });
      }
    }
    if (depth === MAX_LAYERS || !layer.includes("\\")) return spans;
    const inner = layer.replace(ESCAPE, unescaped);
    if (inner.length === layer.length) return spans;
    places = placesWithin(layer, inner.length, placeOf);
    layer = inner;
  }
}

/** `length`: of the layer when it is unescaped. */
function placesWithin(layer: string, length: number, placeOf: (at: number) => number): Uint32Array {
  const places = new Uint32Array(length + 1);
  let [from, to] = [0, 0];
  for (const { 0: written, index } of layer.matchAll(ESCAPE)) {
    while (from <= index) places[to++] = placeOf(from++);
    from = index + written.length;
  }
  while (from <= layer.length) places[to++] = placeOf(from++);
  return places;
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

/**
 * The layers of a text: the text as it is, then with its JSON escapes resolved, then again, because
 * JSON may stand in a string in JSON. Whatever a reader may take out of the text is in one of them.
 *
 * It does not matter where in the text JSON begins. Each layer knows its places in the whole text,
 * which never cut an escape.
 */
export interface Layer {
  readonly text: string;
  /** Where the character at this place begins in the whole text. The last place is its end. */
  placeOf(at: number): number;
}

/** Each layer is a string in a string. No reader goes further, and each costs a pass. */
const MAX_LAYERS = 8;
const ESCAPE = /\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt])/g;
const SHORT: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

export function* layersOf(text: string): Generator<Layer, void, undefined> {
  let layer: Layer = { text, placeOf: (at) => at };
  for (let depth = 0; ; depth++) {
    yield layer;
    if (depth === MAX_LAYERS) return;
    const inner = innerLayer(layer);
    if (!inner) return;
    layer = inner;
  }
}

function innerLayer(layer: Layer): Layer | undefined {
  if (!layer.text.includes("\\")) return undefined;
  const text = layer.text.replace(ESCAPE, unescaped);
  if (text.length === layer.text.length) return undefined;
  let places: Uint32Array | undefined;
  const placeOf = (at: number): number => {
    // Most texts hold nothing that anybody looks for.
    places ??= placesIn(layer, text.length);
    return places[at]!;
  };
  return { text, placeOf };
}

function unescaped(written: string): string {
  const letter = written[1]!;
  return letter === "u" ? String.fromCharCode(Number.parseInt(written.slice(2), 16)) : (SHORT[letter] ?? letter);
}

/** `length`: of the layer when it is unescaped. */
function placesIn(layer: Layer, length: number): Uint32Array {
  const places = new Uint32Array(length + 1);
  let [from, to] = [0, 0];
  for (const { 0: written, index } of layer.text.matchAll(ESCAPE)) {
    while (from <= index) places[to++] = layer.placeOf(from++);
    from = index + written.length;
  }
  while (from <= layer.text.length) places[to++] = layer.placeOf(from++);
  return places;
}

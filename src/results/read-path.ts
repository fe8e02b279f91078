/** Finds the value that a path such as `items[3].title` names. */
import { COMMA, OPEN_BRACE, OPEN_BRACKET } from "../json/characters.ts";
import { byteForm, byteKey, type JsonBytes } from "../json/json-bytes.ts";
import { skipInSlices } from "../json/json-slices.ts";
import { skipSpace } from "../json/json-text.ts";
import type { Sliced } from "../timing/slices.ts";

const STEP = /^(?:\[(\d{1,12})\]|\.?([^.[\]"]+)|\.?("(?:[^"\\]|\\.)*"))/;
const MOST_STEPS = 100;

/** Returns undefined if the text is no path. */
export function stepsIn(path: string): (string | number)[] | undefined {
  const steps: (string | number)[] = [];
  let rest = path.replace(/^\$?\.?/, "");
  while (rest !== "") {
    const [whole = "", index, name, quoted] = STEP.exec(rest) ?? [];
    if (whole === "" || steps.length === MOST_STEPS) return undefined;
    if (index !== undefined) steps.push(Number(index));
    else if (name !== undefined) steps.push(name);
    else {
      try {
        steps.push(JSON.parse(quoted!) as string);
      } catch {
        return undefined;
      }
    }
    rest = rest.slice(whole.length);
  }
  return steps;
}

/** Returns where the value begins; -1 if there is none. */
export function* placeOf(json: JsonBytes, start: number, steps: readonly (string | number)[]): Sliced<number> {
  let at = start;
  for (const step of steps) {
    at = typeof step === "number" ? yield* elementAt(json, at, step) : yield* memberAt(json, at, byteForm(step));
    if (at === -1) return -1;
  }
  return at;
}

function* memberAt(json: JsonBytes, start: number, name: string): Sliced<number> {
  const { text } = json;
  if (text.charCodeAt(start) !== OPEN_BRACE) return -1;
  let at = skipSpace(text, start + 1);
  let found = -1;
  while (text[at] === '"') {
    const end = yield* skipInSlices(text, at);
    const value = skipSpace(text, skipSpace(text, end) + 1);
    if (byteKey(json, { start: at, end }) === name) found = value;
    at = skipSpace(text, yield* skipInSlices(text, value));
    if (text.charCodeAt(at) !== COMMA) break;
    at = skipSpace(text, at + 1);
    yield 1;
  }
  return found;
}

function* elementAt({ text }: JsonBytes, start: number, index: number): Sliced<number> {
  if (text.charCodeAt(start) !== OPEN_BRACKET) return -1;
  let at = skipSpace(text, start + 1);
  for (let i = 0; text[at] !== "]"; i++) {
    if (i === index) return at;
    at = skipSpace(text, yield* skipInSlices(text, at));
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
    yield 1;
  }
  return -1;
}

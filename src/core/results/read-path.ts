/** Finds the value that a path such as `items[3].title` names. */
import { afterComma, skipLong, skipShort, skipSpaces, valueAfter } from "../../lib/json/bytes/byte-values.ts";
import { byteForm, byteKey } from "../../lib/json/bytes/json-bytes.ts";
import { CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET } from "../../lib/json/characters.ts";
import type { Sliced } from "../../lib/timing/slices.ts";

const STEP = /^(?:\[(\d{1,12})\]|\.?([^.[\]"]+)|\.?("(?:[^"\\]|\\.)*"))/;
const MAX_STEPS = 100;

/** Returns undefined if the text is no path. */
export function stepsIn(path: string): (string | number)[] | undefined {
  const steps: (string | number)[] = [];
  let rest = path.replace(/^\$?\.?/, "");
  while (rest !== "") {
    const [whole = "", index, name, quoted] = STEP.exec(rest) ?? [];
    if (whole === "" || steps.length === MAX_STEPS) return undefined;
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
export function* placeOf(bytes: Buffer, start: number, steps: readonly (string | number)[]): Sliced<number> {
  let at = start;
  for (const step of steps) {
    at = typeof step === "number" ? yield* elementAt(bytes, at, step) : yield* memberAt(bytes, at, byteForm(step));
    if (at === -1) return -1;
  }
  return at;
}

/** Members and elements between two yields, and what they cost if they are short. */
const MANY = 1000;
const MANY_COST = 200;

function* memberAt(bytes: Buffer, start: number, name: string): Sliced<number> {
  if (bytes[start] !== OPEN_BRACE) return -1;
  let at = skipSpaces(bytes, start + 1);
  let found = -1;
  for (let count = 1; bytes[at] !== CLOSE_BRACE; count++) {
    let keyEnd = skipShort(bytes, at);
    if (keyEnd === -1) keyEnd = yield* skipLong(bytes, at);
    const value = valueAfter(bytes, keyEnd);
    if (byteKey(bytes, { start: at, end: keyEnd }) === name) found = value;
    let end = skipShort(bytes, value);
    if (end === -1) end = yield* skipLong(bytes, value);
    at = afterComma(bytes, end);
    if (count % MANY === 0) yield MANY_COST;
  }
  return found;
}

function* elementAt(bytes: Buffer, start: number, index: number): Sliced<number> {
  if (bytes[start] !== OPEN_BRACKET) return -1;
  let at = skipSpaces(bytes, start + 1);
  for (let i = 0; bytes[at] !== CLOSE_BRACKET; i++) {
    if (i === index) return at;
    let end = skipShort(bytes, at);
    if (end === -1) end = yield* skipLong(bytes, at);
    at = afterComma(bytes, end);
    if (i % MANY === 0) yield MANY_COST;
  }
  return -1;
}
